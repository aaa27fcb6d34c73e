#include "sources/pack/pack.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "assembly/assemble.h"
#include "assembly/sources/fence.h"
#include "base/hash.h"
#include "base/task_group.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/pack/pack_file.h"
#include "sources/pack/pack_rank.h"
#include "tokens/files/count_cache.h"

namespace dossier::sources {
namespace {

constexpr std::string_view kTitle = "Files";

// In the public encodings the counts of pieces add up exactly (pack_file.h). For other counters,
// including estimates based on one, the whole is counted again, since a sum would be inexact.
bool AddsUp(const tokens::Counter& counter) {
  constexpr std::string_view kNames[] = {"o200k_base", "cl100k_base", "chars", "bytes"};
  return counter.exact() &&
         std::find(std::begin(kNames), std::end(kNames), counter.name()) != std::end(kNames);
}

std::string Note(const PackedFile& file, Form form) {
  switch (file.why) {
    case LeftOut::kBinary:
      return fmt::format("{}, {}", file.detail.empty() ? "binary" : file.detail,
                         FormatSize(file.bytes));
    case LeftOut::kLarge:
      return fmt::format("{}, {}", form == Form::kNames ? "name only" : "description",
                         FormatSize(file.bytes));
    case LeftOut::kSecretName:
    case LeftOut::kSecretFound:
      return "left out: secrets";
    case LeftOut::kUnreadable:
      return "unreadable";
    case LeftOut::kNothing:
    case LeftOut::kBudget:
    case LeftOut::kTop:
      break;
  }
  if (form == Form::kOutline) return "outline";
  return form == Form::kNames ? "name only" : "";
}

// Returns the form that is shown if `most` is the limit.
Form FormWithin(const PackedFile& file, Form most) {
  Form form = std::max(file.form, most);
  if (form == Form::kOutline && file.outline.empty()) {
    // A small file or a description has no shorter form.
    form = most == Form::kOutline && file.form == Form::kFull ? Form::kFull : Form::kNames;
  }
  return form;
}

constexpr std::size_t kMostFolders = 20;  // listed for files that are not named

// "… and 1,600 more: src/ 1,200, docs/ 398, 2 beside them", the fullest folders first.
std::string RestOfList(const std::map<std::string, std::size_t>& unnamed) {
  std::vector<std::pair<std::string, std::size_t>> folders;
  std::size_t all = 0, beside = 0;
  for (const auto& [folder, files] : unnamed) {
    all += files;
    if (folder.empty()) {
      beside += files;
    } else {
      folders.emplace_back(folder, files);
    }
  }
  std::ranges::stable_sort(folders, std::greater(), [](const auto& one) { return one.second; });
  std::vector<std::string> parts;
  for (const auto& [folder, files] : folders) {
    if (parts.size() < kMostFolders) {
      parts.push_back(fmt::format("{} {}", PathForText(folder), GroupDigits(files)));
    } else {
      beside += files;
    }
  }
  if (beside > 0 && !parts.empty()) parts.push_back(GroupDigits(beside) + " beside them");
  return fmt::format("… and {} more{}\n", GroupDigits(all),
                     parts.empty() ? "" : ": " + Join(parts, ", "));
}

const std::string& PieceOf(const PackedFile& file, Form form) {
  static const std::string kNone;
  if (form == Form::kNames) return kNone;
  return form == Form::kOutline ? file.outline : file.full;
}

std::string Joined(const std::vector<std::string_view>& parts) {
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  std::string text;
  text.reserve(size);
  for (const std::string_view part : parts) text += part;
  return text;
}

class Packer {
 public:
  Packer(const PackOptions& options, const CancelToken& cancel)
      : options_(options), cancel_(cancel), ranking_(options.task) {}

  Result<PackedFiles> Run() {
    DOSSIER_ASSIGN_OR_RETURN(selection_, SelectFiles(options_, cancel_));
    packed_.root = selection_.root;
    packed_.format = options_.format;
    packed_.warnings = selection_.warnings;
    ReadAll();
    if (cancel_.cancelled()) return MakeError(ErrorCode::kCancelled, "interrupted");
    Judge();
    Order();
    DOSSIER_RETURN_IF_ERROR(Fit());
    CountAll();
    return std::move(packed_);
  }

 private:
  const GitFacts* git() const { return selection_.git ? &*selection_.git : nullptr; }
  const TaskRanking* ranking() const { return ranking_.empty() ? nullptr : &ranking_; }

  void ReadAll() {
    const std::size_t count = selection_.files.size();
    packed_.files.resize(count);
    facts_.resize(count);
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      auto counts = tokens::CountCache::Open(options_.counts_folder, options_.counts_name);
      for (std::size_t i = next++; i < count && !cancel_.cancelled(); i = next++) {
        packed_.files[i] =
            PackOneFile(selection_.files[i], options_, git(), ranking(), &counts, &facts_[i]);
      }
      counts.Save();
    };
    TaskGroup tasks;
    for (int i = 1; i < options_.threads; ++i) tasks.Run(work);
    work();
  }

  // Sets priorities, scores and warnings by path, before files are ordered.
  void Judge() {
    std::vector<std::pair<PathGlobs, double>> priorities;
    for (const auto& [glob, value] : options_.priority) {
      priorities.emplace_back(PathGlobs({glob}), value);
    }
    for (std::size_t i = 0; i < packed_.files.size(); ++i) {
      PackedFile& file = packed_.files[i];
      for (const auto& [glob, value] : priorities) {
        if (glob.Matches(file.path)) file.priority = value;
      }
      if (facts_[i].sanitized) {
        packed_.warnings.push_back(
            fmt::format("{}: bytes that are no text are shown as U+FFFD", PathForText(file.path)));
      }
      if (file.why == LeftOut::kBinary && !file.detail.empty()) {
        packed_.warnings.push_back(fmt::format("{}: only listed, it is {}; as UTF-8 it is shown",
                                               PathForText(file.path), file.detail));
      }
      if (file.why == LeftOut::kUnreadable) {
        packed_.warnings.push_back(
            fmt::format("{}: left out ({})", PathForText(file.path), file.detail));
      }
    }
    if (ranking()) Score();
  }

  void Score() {
    std::vector<std::string> paths;
    std::vector<TaskWordCounts> texts;
    for (std::size_t i = 0; i < packed_.files.size(); ++i) {
      paths.push_back(packed_.files[i].path);
      texts.push_back(std::move(facts_[i].ranked));
    }
    std::vector<Rank> ranks = ranking_.Score(paths, texts, git());
    double best = 0;
    for (const Rank& rank : ranks) best = std::max(best, rank.score);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      PackedFile& file = packed_.files[i];
      file.score = ranks[i].score;
      file.reasons = std::move(ranks[i].reasons);
      // Among files of equal priority the score decides.
      if (best > 0) file.priority += 0.001 * file.score / best;
    }
    if (options_.top) KeepTop(*options_.top);
  }

  void KeepTop(std::size_t top) {
    std::vector<std::size_t> order(packed_.files.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return packed_.files[a].score > packed_.files[b].score;
    });
    for (std::size_t i = 0; i < order.size(); ++i) {
      PackedFile& file = packed_.files[order[i]];
      if (file.form == Form::kNames || (i < top && file.score > 0)) continue;
      if (selection_.files[order[i]].named) continue;
      file.form = Form::kNames;
      file.why = LeftOut::kTop;
    }
  }

  void Order() {
    PackOrder order = options_.order;
    if (order == PackOrder::kDefault) order = PackOrder::kChanged;
    if (order == PackOrder::kChanged && !git()) order = PackOrder::kPath;
    packed_.order = order == PackOrder::kChanged ? "changed"
                    : order == PackOrder::kPath  ? "path"
                                                 : "sticky";
    std::vector<OrderKey> keys;
    for (std::size_t i = 0; i < packed_.files.size(); ++i) {
      keys.push_back({packed_.files[i].path, facts_[i].unchanged});
    }
    std::vector<PackedFile> ordered;
    ordered.reserve(keys.size());
    for (const std::size_t i : OrderFiles(order, keys, git(), options_.manifest)) {
      ordered.push_back(std::move(packed_.files[i]));
    }
    packed_.files = std::move(ordered);
  }

  std::int64_t ListTokens() const { return options_.counter->CountText(packed_.List()).upper(); }

  // Upper limit for the tokens of the list: a file that is only named has the longest line.
  std::int64_t MostListTokens() const {
    return options_.counter->CountText(packed_.List(Form::kNames)).upper() + options_.reserve;
  }

  // Orders files by who is named first: by priority, which includes the task's score, then files
  // with the fewest folders in their path.
  std::vector<PackedFile*> ByImportance() {
    std::vector<PackedFile*> files;
    for (PackedFile& file : packed_.files) files.push_back(&file);
    const auto key = [](const PackedFile* file) {
      return std::make_tuple(-file->priority, std::ranges::count(file->path, '/'), file->path);
    };
    std::ranges::sort(files, [&](const auto* a, const auto* b) { return key(a) < key(b); });
    return files;
  }

  // Names as many files as `limit` tokens allow, and counts the others by folder.
  std::int64_t ShortenList(std::int64_t limit) {
    const std::vector<PackedFile*> files = ByImportance();
    const auto name_first = [&](std::size_t count) {
      for (std::size_t i = 0; i < files.size(); ++i) files[i]->listed = i < count;
      return MostListTokens();
    };
    std::size_t fits = 0, fails = files.size();
    while (fits + 1 < fails) {
      const std::size_t middle = fits + (fails - fits) / 2;
      (name_first(middle) <= limit ? fits : fails) = middle;
    }
    return name_first(fits);
  }

  Status Fit() {
    if (!options_.budget) return {};
    std::int64_t names = MostListTokens();
    const std::int64_t all_names = names;
    // If not all names fit, most of the budget is left to the files.
    if (names > *options_.budget) names = ShortenList(*options_.budget / 4);
    if (names > *options_.budget) {
      return MakeError(
          ErrorCode::kTooLong,
          "the names of {} files alone need {} tokens, the budget is {}: raise it, or "
          "name fewer files with --include or --exclude",
          GroupDigits(packed_.files.size()), GroupDigits(static_cast<std::uint64_t>(all_names)),
          GroupDigits(static_cast<std::uint64_t>(std::max<std::int64_t>(*options_.budget, 0))));
    }
    FitFiles(*options_.budget - names, &packed_.files);
    // Notes of the list on files that are shown are shorter, or none: more may fit then.
    for (std::int64_t list = ListTokens(), before = list + 1; list < before;) {
      FitFiles(*options_.budget - list - options_.reserve, &packed_.files);
      before = std::exchange(list, ListTokens());
    }
    if (names < all_names) {
      packed_.warnings.push_back(fmt::format(
          "the list names {} of {} files, as all names take {} tokens",
          GroupDigits(static_cast<std::uint64_t>(
              std::ranges::count_if(packed_.files, &PackedFile::listed))),
          GroupDigits(packed_.files.size()), GroupDigits(static_cast<std::uint64_t>(all_names))));
    }
    return {};
  }

  void CountAll() {
    packed_.exact = options_.counter->exact();
    packed_.margin = options_.counter->margin();
    if (!AddsUp(*options_.counter)) {
      packed_.tokens = options_.counter->CountText(packed_.Text()).tokens;
      return;
    }
    packed_.tokens = ListTokens();
    for (const PackedFile& file : packed_.files) packed_.tokens += TokensOf(file, file.form);
  }

  const PackOptions& options_;
  const CancelToken cancel_;
  const TaskRanking ranking_;
  Selection selection_;
  std::vector<ReadFileFacts> facts_;
  PackedFiles packed_;
};

std::string NextBoundary(const std::string& first, int draw, std::optional<std::uint64_t> seed) {
  return seed ? assembly::MakeBoundary(*seed, draw)
              : Sha256Hex(fmt::format("{}#{}", first, draw)).substr(0, first.size());
}

}  // namespace

std::string_view LeftOutName(LeftOut why) {
  switch (why) {
    case LeftOut::kNothing:
      return "";
    case LeftOut::kBinary:
      return "binary";
    case LeftOut::kLarge:
      return "large";
    case LeftOut::kSecretName:
      return "secret-name";
    case LeftOut::kSecretFound:
      return "secret-found";
    case LeftOut::kUnreadable:
      return "unreadable";
    case LeftOut::kBudget:
      return "budget";
    case LeftOut::kTop:
      return "top";
  }
  return "";
}

std::string PackedFiles::List(Form most) const {
  std::vector<const PackedFile*> by_path;
  for (const PackedFile& file : files) by_path.push_back(&file);
  std::sort(by_path.begin(), by_path.end(),
            [](const PackedFile* a, const PackedFile* b) { return a->path < b->path; });
  std::string out = format == PackFormat::kXml        ? "<list>\n"
                    : format == PackFormat::kMarkdown ? "## List of files\n\n"
                                                      : "==> list of files <==\n";
  std::map<std::string, std::size_t> unnamed;  // by the first folder
  for (const PackedFile* file : by_path) {
    if (!file->listed) {
      const bool shown = FormWithin(*file, most) != Form::kNames;
      if (!shown) ++unnamed[file->path.substr(0, file->path.find('/') + 1)];
      continue;
    }
    const std::string note = Note(*file, FormWithin(*file, most));
    if (format == PackFormat::kMarkdown) out += "- ";
    out += PathForText(file->path);
    if (!note.empty()) out.append(" (").append(note).append(")");
    out += '\n';
  }
  if (!unnamed.empty()) out += RestOfList(unnamed);
  if (format == PackFormat::kXml) out += "</list>\n";
  return out;
}

std::string PackedFiles::Text(Form most) const {
  const std::string list = List(most);
  std::vector<std::string_view> parts;
  for (const PackedFile& file : files) parts.emplace_back(PieceOf(file, FormWithin(file, most)));
  parts.emplace_back(list);
  return Joined(parts);
}

std::vector<std::string_view> FencedText::Parts() const {
  std::vector<std::string_view> parts = {opening};
  for (const PackedFile& file : packed->files) {
    parts.emplace_back(PieceOf(file, FormWithin(file, Form::kFull)));
  }
  parts.insert(parts.end(), {list, closing});
  return parts;
}

std::string FencedText::Text() const { return Joined(Parts()); }

Result<PackedFiles> Pack(const PackOptions& options, const CancelToken& cancel) {
  if (options.budget && *options.budget < 1) {
    return MakeError(ErrorCode::kUsage, "--budget {}: must be above 0", *options.budget);
  }
  for (const auto& [glob, value] : options.priority) {
    if (!(value >= 0 && value <= 1)) {
      return MakeError(ErrorCode::kUsage, "--priority {}={}: must be 0 to 1", glob, value);
    }
  }
  return Packer(options, cancel).Run();
}

FencedText FencedPack(const tokens::Counter& counter, std::string boundary,
                      std::optional<std::uint64_t> seed, PackedFiles* packed) {
  FencedText text{.list = packed->List(), .packed = packed};
  if (packed->format == PackFormat::kMarkdown) return text;
  const std::string first = boundary;
  const std::vector<std::string_view> parts = text.Parts();
  // Each part ends with a newline, which no boundary contains.
  const auto is_in = [&](std::string_view part) { return part.find(boundary) != part.npos; };
  for (int draw = 1; std::any_of(parts.begin(), parts.end(), is_in); ++draw) {
    boundary = NextBoundary(first, draw, seed);
  }
  text.opening = fmt::format("{}:\n<<<DATA {}\n", kTitle, boundary);
  text.closing = fmt::format("DATA {}>>>\n", boundary);
  packed->tokens = AddsUp(counter) ? packed->tokens + counter.CountText(text.opening).tokens +
                                         counter.CountText(text.closing).tokens
                                   : counter.CountText(text.Text()).tokens;
  return text;
}

std::int64_t FenceTokens(const tokens::Counter& counter, PackFormat format) {
  if (format == PackFormat::kMarkdown) return 0;
  // 32 hex digits have at most that many tokens.
  return counter.CountText(fmt::format("{}:\n<<<DATA \nDATA >>>\n", kTitle)).upper() + 2 * 34;
}

namespace {

constexpr std::size_t kLargest = 10;
constexpr std::size_t kMostSecretLines = 8 << 10;  // bytes of them in the table

std::string_view FormName(const PackedFile& file) {
  if (file.form == Form::kNames) return "names";
  if (file.form == Form::kOutline) return "outline";
  return file.why == LeftOut::kLarge ? "description" : "full";
}

std::vector<const PackedFile*> Largest(const PackedFiles& packed) {
  std::vector<const PackedFile*> files;
  for (const PackedFile& file : packed.files) {
    if (file.full_tokens > 0) files.push_back(&file);
  }
  std::stable_sort(files.begin(), files.end(), [](const PackedFile* a, const PackedFile* b) {
    return a->full_tokens > b->full_tokens;
  });
  if (files.size() > kLargest) files.resize(kLargest);
  return files;
}

std::string ExcludePattern(const std::string& path) {
  return path.find('/') == std::string::npos ? "/" + path : path;
}

bool WasCut(const PackedFiles& packed) {
  return std::any_of(packed.files.begin(), packed.files.end(),
                     [](const PackedFile& file) { return file.why == LeftOut::kBudget; });
}

// Returns true if the place that a secret was removed from is part of the text.
bool IsShown(const PackedFile& file, const PackedSecret& secret) {
  if (file.form == Form::kNames) return false;
  return file.form == Form::kFull ||
         file.outline.find(fmt::format("[redacted:{}]", secret.kind)) != std::string::npos;
}

// Lists each redaction as FILE:LINE KIND, so that a wrong one is noticed; also those that caused a
// file to be left out.
std::string SecretLines(const PackedFiles& packed) {
  std::size_t count = 0, of_left_out = 0;
  std::string lines;
  for (const PackedFile& file : packed.files) {
    const bool left_out = file.why == LeftOut::kSecretFound;
    for (const PackedSecret& secret : file.secrets) {
      const bool shown = IsShown(file, secret);
      if (!shown && !left_out) continue;
      ++(shown ? count : of_left_out);
      if (lines.size() < kMostSecretLines) {
        const std::string line = secret.line > 0 ? fmt::format(":{}", secret.line) : "";
        lines += fmt::format("  {}{} {}{}\n", PathForText(file.path), line, secret.kind,
                             shown ? "" : " (file left out)");
      }
    }
  }
  if (lines.empty()) return {};
  if (lines.size() >= kMostSecretLines) lines += "  … (--json lists all)\n";
  const std::string more =
      of_left_out == 0 ? "" : fmt::format("; in files left out: {}", GroupDigits(of_left_out));
  return fmt::format("secrets redacted: {}{}\n{}", GroupDigits(count), more, lines);
}

Json FileJson(const PackedFile& file) {
  JsonObject json{{"path", utf8::Sanitize(file.path)},
                  {"form", FormName(file)},
                  {"tokens", TokensOf(file, file.form)},
                  {"full_tokens", file.full_tokens},
                  {"bytes", file.bytes},
                  {"priority", file.priority}};
  if (file.why != LeftOut::kNothing) json["left_out"] = LeftOutName(file.why);
  if (!file.detail.empty()) json["detail"] = file.detail;
  if (!file.secrets.empty()) {
    JsonArray secrets;
    for (const PackedSecret& secret : file.secrets) {
      JsonObject entry;
      if (secret.line > 0) entry["line"] = secret.line;
      entry["kind"] = secret.kind;
      secrets.push_back(std::move(entry));
    }
    json["secrets"] = std::move(secrets);
  }
  if (file.score > 0) {
    json["score"] = file.score;
    JsonArray reasons;
    for (const std::string& reason : file.reasons) reasons.emplace_back(utf8::Sanitize(reason));
    json["reasons"] = std::move(reasons);
  }
  return json;
}

// A file or folder with its contents.
struct TreeNode {
  std::int64_t tokens = 0;
  std::size_t files = 0;
  std::map<std::string, TreeNode> below;  // by name; empty: a file
  std::string_view form;                  // set for a file that is not shown in full
};

void ShowNode(const std::string& name, const TreeNode& node, int depth, std::string* out) {
  *out += fmt::format("{:>12}  {:{}}{}", GroupCount(node.tokens), "", depth * 2, name);
  if (!node.below.empty()) {
    *out += fmt::format(" ({} {})", GroupDigits(node.files), node.files == 1 ? "file" : "files");
  }
  if (!node.form.empty()) *out += fmt::format(" ({})", node.form);
  *out += '\n';
  std::vector<std::pair<std::string, const TreeNode*>> inner;
  for (const auto& [path, below] : node.below) inner.emplace_back(path, &below);
  std::stable_sort(inner.begin(), inner.end(), [](const auto& a, const auto& b) {
    return a.second->tokens > b.second->tokens;
  });
  for (const auto& [path, below] : inner) ShowNode(path, *below, depth + 1, out);
}

}  // namespace

Json PackReportJson(const PackedFiles& packed, std::optional<std::int64_t> budget,
                    std::string_view encoding) {
  JsonArray files, warnings, largest;
  for (const PackedFile& file : packed.files) files.push_back(FileJson(file));
  for (const std::string& warning : packed.warnings) warnings.emplace_back(utf8::Sanitize(warning));
  for (const PackedFile* file : Largest(packed)) {
    largest.push_back(JsonObject{{"path", utf8::Sanitize(file->path)},
                                 {"tokens", file->full_tokens},
                                 {"exclude", utf8::Sanitize(ExcludePattern(file->path))}});
  }
  return JsonObject{
      {"schema", "dossier.pack/1"},    {"encoding", encoding},
      {"exact", packed.exact},         {"margin", packed.margin},
      {"tokens", packed.tokens},       {"budget", budget ? Json(*budget) : Json(nullptr)},
      {"order", packed.order},         {"files", std::move(files)},
      {"largest", std::move(largest)}, {"warnings", std::move(warnings)}};
}

std::string PackTable(const PackedFiles& packed, std::optional<std::int64_t> budget,
                      std::string_view encoding) {
  std::map<std::string, std::size_t> forms, reasons;
  for (const PackedFile& file : packed.files) {
    ++forms[std::string(FormName(file))];
    if (file.why != LeftOut::kNothing) ++reasons[std::string(LeftOutName(file.why))];
  }
  std::string out =
      fmt::format("{} {} tokens ({}{}), order {}", packed.exact ? "exactly" : "about",
                  GroupCount(packed.tokens), encoding,
                  budget ? fmt::format(", budget {}", GroupCount(*budget)) : "", packed.order);
  const auto list = [&](std::string_view head, const std::map<std::string, std::size_t>& counts) {
    if (counts.empty()) return;
    out.append("\n").append(head);
    for (const auto& [name, count] : counts) out += fmt::format(" {} {}", name, GroupDigits(count));
  };
  list("files:", forms);
  list("shortened or left out:", reasons);
  out += '\n' + SecretLines(packed);
  if (!WasCut(packed)) return out;
  out += "largest:\n";
  for (const PackedFile* file : Largest(packed)) {
    out += fmt::format("{:>12}  --exclude '{}'\n", GroupCount(file->full_tokens),
                       ExcludePattern(PathForText(file->path)));
  }
  return out;
}

std::string PackTree(const PackedFiles& packed) {
  TreeNode root;
  for (const PackedFile& file : packed.files) {
    const std::int64_t tokens = TokensOf(file, file.form);
    TreeNode* node = &root;
    const std::vector<std::string_view> names = Split(file.path, '/');
    for (std::size_t i = 0;; ++i) {
      node->tokens += tokens;
      ++node->files;
      if (i >= names.size()) break;
      node = &node->below[PathForText(names[i]) + (i + 1 < names.size() ? "/" : "")];
    }
    if (FormName(file) != "full") node->form = FormName(file);
  }
  std::string out;
  ShowNode("./", root, 0, &out);
  return out;
}

std::string PackNames(const PackedFiles& packed, char end) {
  std::string out;
  const std::filesystem::path root(packed.root);
  for (const PackedFile& file : packed.files) {
    if (file.form == Form::kNames) continue;
    std::error_code error;
    out.append(std::filesystem::proximate(root / file.path, error).string()).push_back(end);
  }
  return out;
}

std::string PackRanks(const PackedFiles& packed, std::size_t count) {
  std::vector<const PackedFile*> files;
  for (const PackedFile& file : packed.files) {
    if (file.score > 0) files.push_back(&file);
  }
  std::stable_sort(files.begin(), files.end(), [](const PackedFile* a, const PackedFile* b) {
    return a->score != b->score ? a->score > b->score : a->path < b->path;
  });
  if (files.size() > count) files.resize(count);
  std::string out;
  for (const PackedFile* file : files) {
    out += fmt::format("{:>7.2f}  {}\n", file->score, PathForText(file->path));
    for (const std::string& reason : file->reasons) out += fmt::format("           {}\n", reason);
  }
  return out;
}

}  // namespace dossier::sources
