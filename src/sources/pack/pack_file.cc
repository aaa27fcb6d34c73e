#include "sources/pack/pack_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "assembly/sources/fence.h"
#include "base/files/file.h"
#include "base/files/secret_files.h"
#include "base/files/walk.h"
#include "base/json/json.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/containers/binary_marks.h"
#include "inspect/describe/describe.h"
#include "inspect/description/hint.h"
#include "inspect/text/redacted_source.h"
#include "sources/pack/pack.h"

namespace dossier::sources {
namespace {

constexpr std::size_t kMaxFiles = 200'000;

struct Named {
  std::string full;  // absolute, links in its folder resolved
  enum class Kind : std::uint8_t { kFile, kFolder, kGlob } kind = Kind::kFile;
  std::string glob;  // for kGlob, from `full` on
};

// Splits `path` into the folder before the first name with a glob, and the rest.
std::pair<std::string, std::string> SplitGlob(const std::string& path) {
  const std::size_t special = path.find_first_of("*?[{");
  const std::size_t slash = path.rfind('/', special);
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

Result<Named> Resolve(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    if (path.find_first_of("*?[{") == std::string::npos) {
      return MakeError(ErrorCode::kNotFound, "{}: no such file or folder", path);
    }
    const auto [folder, glob] = SplitGlob(path);
    const std::string full = Canonical(folder);
    if (full.empty()) return MakeError(ErrorCode::kNotFound, "{}: no such file or folder", path);
    return Named{full, Named::Kind::kGlob, glob};
  }
  if (S_ISDIR(info.st_mode)) return Named{Canonical(path), Named::Kind::kFolder, ""};
  if (!S_ISREG(info.st_mode)) {
    return MakeError(ErrorCode::kIsDevice, "{}: not a regular file", path);
  }
  const std::filesystem::path given(path);
  const std::string folder =
      Canonical(given.has_parent_path() ? given.parent_path().string() : ".");
  return Named{fmt::format("{}/{}", folder == "/" ? "" : folder, given.filename().string()),
               Named::Kind::kFile, ""};
}

std::string FolderOf(const Named& named) {
  if (named.kind != Named::Kind::kFile) return named.full;
  return named.full.substr(0, std::max<std::size_t>(named.full.rfind('/'), 1));
}

// Returns the deepest folder above all named paths.
std::string CommonFolder(const std::vector<Named>& named) {
  std::string common = FolderOf(named.front());
  for (const Named& one : named) {
    const std::string folder = FolderOf(one);
    while (!IsBelow(folder, common)) {
      common = common.substr(0, std::max<std::size_t>(common.rfind('/'), 1));
    }
  }
  return common;
}

class Selector {
 public:
  Selector(const PackOptions& options, const CancelToken& cancel)
      : options_(options), cancel_(cancel), include_(options.include), exclude_(options.exclude) {}

  Result<Selection> Run() {
    std::vector<Named> named;
    for (const std::string& path : options_.paths) {
      DOSSIER_ASSIGN_OR_RETURN(Named one, Resolve(path));
      named.push_back(std::move(one));
    }
    if (named.empty()) return MakeError(ErrorCode::kUsage, "pack: name a file or a folder");
    FindRoot(named);
    for (const Named& one : named) DOSSIER_RETURN_IF_ERROR(Add(one));
    for (auto& [path, file] : found_) selection_.files.push_back(std::move(file));
    if (selection_.files.empty()) {
      selection_.warnings.push_back(
          "no file is packed: there is none, or ignore rules, --include or --exclude leave out "
          "all; a "
          "file that is named is always taken");
    }
    return std::move(selection_);
  }

 private:
  void FindRoot(const std::vector<Named>& named) {
    selection_.root = CommonFolder(named);
    const auto git = FindGitFolders(selection_.root);
    if (!git) return;
    selection_.root = git->root;
    GitFacts facts = ReadGitFacts(*git, cancel_);
    if (!facts.problem.empty()) {
      selection_.warnings.push_back(facts.problem);
      return;
    }
    for (const auto& [path, blob] : facts.index) tracked_.push_back(path);
    std::sort(tracked_.begin(), tracked_.end());
    selection_.git = std::move(facts);
  }

  Status Add(const Named& named) {
    if (named.kind == Named::Kind::kFile) {
      Take(named.full, true);
      return {};
    }
    WalkOptions walk{
        .hidden = options_.hidden ? HiddenFiles::kInclude : HiddenFiles::kSkip,
        .nested = options_.submodules ? NestedRepositories::kInclude : NestedRepositories::kSkip,
        .max_files = kMaxFiles,
        .extra_ignore_files = {".ignore", ".dossierignore"},
        .tracked = tracked_};
    if (selection_.git) {
      walk.global_ignore_file = selection_.git->global_ignore_file;
      walk.letters = selection_.git->letters;
    }
    DOSSIER_ASSIGN_OR_RETURN(const WalkResult result, WalkFolder(named.full, walk, cancel_));
    if (result.stopped) {
      return MakeError(ErrorCode::kLimit, "{}: more than {} files; name fewer folders", named.full,
                       GroupDigits(kMaxFiles));
    }
    for (const SkippedPath& skipped : result.skipped) {
      selection_.warnings.push_back(
          fmt::format("{}: left out ({})", Shown(skipped.path), skipped.reason));
    }
    std::size_t matched = 0;
    const PathGlobs only(named.glob.empty() ? std::vector<std::string>{}
                                            : std::vector<std::string>{"/" + named.glob});
    const std::size_t inside = named.full == "/" ? 1 : named.full.size() + 1;
    for (const std::string& file : result.files) {
      if (!only.empty() && !only.Matches(std::string_view(file).substr(inside))) continue;
      ++matched;
      Take(file, false);
    }
    if (only.empty() || matched > 0) return {};
    return MakeError(ErrorCode::kNotFound,
                     "{}: no file below {} matches, ignored and hidden ones apart", named.glob,
                     named.full);
  }

  std::string Shown(const std::string& full) const {
    return full.substr(selection_.root == "/" ? 1 : selection_.root.size() + 1);
  }

  void Take(const std::string& full, bool named) {
    std::string path = Shown(full);
    if (!named) {
      if (!include_.empty() && !include_.Matches(path)) return;
      if (exclude_.Matches(path)) return;
    }
    SelectedFile& file = found_[path];
    file.full = full;
    file.path = path;
    file.named = file.named || named;
  }

  const PackOptions& options_;
  const CancelToken cancel_;
  const PathGlobs include_, exclude_;
  std::vector<std::string> tracked_;
  std::map<std::string, SelectedFile> found_;
  Selection selection_;
};

// Writes the frames around files in each format. A step of Pack.
//
// Every piece ends with newlines, and the next starts with neither a newline nor a slash: no
// tokenizer of the public encodings merges across that, so the counts of pieces add up to the count
// of the whole. Thread-safety: pure functions.

struct Rendering {
  PackFormat format = PackFormat::kXml;
  std::string_view path;  // result of PathForText
  std::string_view note;  // "outline", "description"; empty for the file itself
};

std::string EscapeXml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string LanguageWord(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || path.find('/', dot) != std::string_view::npos) return "";
  const std::string_view ending = path.substr(dot + 1);
  const bool word =
      ending.size() <= 12 && ending.find_first_not_of(
                                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789+-") == std::string_view::npos;
  return word ? std::string(ending) : "";
}

std::string Header(const Rendering& how, std::size_t ticks) {
  const std::string note = how.note.empty() ? "" : fmt::format(" ({})", how.note);
  switch (how.format) {
    case PackFormat::kXml:
      return fmt::format("<file path=\"{}\"{}>\n", EscapeXml(how.path),
                         how.note.empty() ? "" : fmt::format(" shown=\"{}\"", how.note));
    case PackFormat::kMarkdown:
      return fmt::format("## {}{}\n\n{}{}\n", how.path, note, std::string(ticks, '`'),
                         how.note.empty() ? LanguageWord(how.path) : "");
    case PackFormat::kPlain:
      return fmt::format("==> {}{} <==\n", how.path, note);
  }
  return "";
}

std::string RenderFile(const Rendering& how, std::string_view body) {
  body = assembly::TrimLineEnds(body);
  const std::size_t ticks =
      how.format == PackFormat::kMarkdown ? assembly::GrowingFenceLength(body) : 0;
  const std::string header = Header(how, ticks);
  std::string out;
  out.reserve(header.size() + body.size() + ticks + 16);
  out.append(header).append(body);
  if (!body.empty()) out += '\n';
  if (how.format == PackFormat::kXml) out += "</file>\n";
  if (how.format == PackFormat::kMarkdown) out.append(ticks, '`').append("\n\n");
  if (how.format == PackFormat::kPlain) out += '\n';
  return out;
}

std::string WithLineNumbers(std::string_view body) {
  body = assembly::TrimLineEnds(body);
  std::string out;
  if (body.empty()) return out;
  std::size_t number = 0;
  for (const std::string_view line : Split(body, '\n')) {
    out.append(std::to_string(++number)).append(": ").append(line).append("\n");
  }
  return out;
}

constexpr std::uint64_t kMaxWhole = 1 << 20;  // bytes
constexpr std::uint64_t kMaxData = 64 << 10;  // bytes
// For a file that is described, not shown; counts of a larger one are given as bounds.
constexpr std::uint64_t kMaxScan = 64 << 20;
constexpr std::size_t kSniffed = 8000;  // bytes in which a NUL makes a file binary, as in git

constexpr std::string_view kDataEndings[] = {".csv", ".tsv", ".ndjson", ".jsonl", ".json"};

constexpr std::size_t kMarked = 64 << 10;  // bytes in which a mark of a kind is looked for

bool IsBinary(std::string_view content) {
  if (inspect::HasBinaryMark(content.substr(0, kMarked))) return true;  // a PDF may have no NUL
  if (content.substr(0, kSniffed).find('\0') != std::string_view::npos) return true;
  const utf8::Census census = utf8::Count(content);
  return census.invalid * 10 > census.bytes * 3;  // more than Latin-1 prose contains
}

// Names the encoding that a byte order mark gives to a file with NULs, binary to git as well.
std::string_view WideText(std::string_view content) {
  if (content.starts_with(std::string_view("\xFF\xFE\0\0", 4)) ||
      content.starts_with(std::string_view("\0\0\xFE\xFF", 4))) {
    return "UTF-32 text";
  }
  const bool wide = content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF");
  return wide ? "UTF-16 text" : "";
}

bool IsData(const std::string& path) {
  const std::string lower = ToLowerAscii(path);
  return std::any_of(std::begin(kDataEndings), std::end(kDataEndings),
                     [&](std::string_view ending) { return lower.ends_with(ending); });
}

class FilePacker {
 public:
  FilePacker(const SelectedFile& file, const PackOptions& options, const GitFacts* git,
             const TaskRanking* ranking, tokens::CountCache* counts, ReadFileFacts* facts)
      : file_(file),
        options_(options),
        git_(git),
        ranking_(ranking),
        counts_(counts),
        facts_(facts) {
    packed_.path = file.path;
    shown_ = PathForText(file.path);
  }

  PackedFile Run() {
    if (ranking_) facts_->ranked = ranking_->Read(file_.path, {}, "");
    struct stat info{};
    if (stat(file_.full.c_str(), &info) != 0) return LeaveOut(LeftOut::kUnreadable, "it is gone");
    packed_.bytes = static_cast<std::uint64_t>(info.st_size);
    const bool hides_secrets = options_.secrets != SecretPolicy::kAllow && !file_.named;
    if (hides_secrets && HasSecretName(file_.path)) return LeaveOut(LeftOut::kSecretName, "");
    if (packed_.bytes > kMaxWhole || (packed_.bytes > kMaxData && IsData(file_.path))) {
      return Describe();
    }
    auto content = ReadFile(file_.full, kMaxWhole + 1);
    if (!content) return LeaveOut(LeftOut::kUnreadable, content.error().message);
    packed_.bytes = content->size();
    facts_->unchanged = git_ && IsUnchanged(*git_, file_.path, *content);
    if (hides_secrets && IsSecretText(*content)) return LeaveOut(LeftOut::kSecretFound, "");
    if (IsBinary(*content)) return LeaveOut(LeftOut::kBinary, std::string(WideText(*content)));
    return Show(std::move(*content));
  }

 private:
  PackedFile LeaveOut(LeftOut why, std::string detail) {
    packed_.form = Form::kNames;
    packed_.why = why;
    packed_.detail = std::move(detail);
    return std::move(packed_);
  }

  // Shows a large file as the description by `inspect`.
  PackedFile Describe() {
    // Its content is not hashed: by name and index it counts as unchanged.
    facts_->unchanged =
        git_ && git_->index.contains(file_.path) && !git_->staged.contains(file_.path);
    const auto source = inspect::OpenFileSource(file_.full);
    if (!source) return LeaveOut(LeftOut::kUnreadable, source.error().message);
    const auto about = inspect::Describe(**source, {.max_scan = kMaxScan, .threads = 1}, {});
    if (!about) return LeaveOut(LeftOut::kUnreadable, about.error().message);
    if (about->format == inspect::Format::kBinary) return LeaveOut(LeftOut::kBinary, "");
    const std::string text = utf8::Sanitize(inspect::RenderHint(*about, {.variable = "file"}));
    if (options_.secrets != SecretPolicy::kAllow) {
      const Result<bool> hides = HidesDescribed(**source, text);
      if (!hides) return LeaveOut(LeftOut::kUnreadable, hides.error().message);
      if (*hides) return LeaveOut(LeftOut::kSecretFound, "");
    }
    packed_.why = LeftOut::kLarge;
    packed_.full = RenderFile({options_.format, shown_, "description"}, text);
    packed_.full_tokens = Count(packed_.full);
    return std::move(packed_);
  }

  // Lists the secrets that are redacted in `description`. Returns true if the file must be left
  // out.
  Result<bool> HidesDescribed(const inspect::ByteSource& source, std::string_view description) {
    std::string head(kMaxWhole, '\0');
    DOSSIER_ASSIGN_OR_RETURN(const std::size_t got, source.ReadAt(0, std::span(head)));
    head.resize(got);
    ListRedactions(head, description);
    if (file_.named) return false;
    if (IsSecretText(head)) return true;
    if (options_.secrets != SecretPolicy::kExclude) return false;
    if (!packed_.secrets.empty()) return true;
    DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t found,
                             inspect::CountSecrets(source, {}, kMaxScan));
    return found > 0;
  }

  // `head` begins the file; what was redacted behind it has no line.
  void ListRedactions(std::string_view head, std::string_view description) {
    constexpr std::string_view kMark = "[redacted:";
    const std::vector<Secret> found = FindSecrets(head);
    const std::vector<std::size_t> lines = LinesOf(head, found);
    std::map<std::string_view, std::size_t> next;  // by kind: which of `found` to list next
    for (std::size_t at = description.find(kMark); at != std::string_view::npos;
         at = description.find(kMark, at + 1)) {
      const std::string_view mark = description.substr(at, description.find(']', at) - at);
      if (head.find(mark) != std::string_view::npos) continue;  // as it is in the file
      const std::string_view kind = mark.substr(kMark.size());
      std::size_t& i = next[kind];
      while (i < found.size() && found[i].kind != kind) ++i;
      packed_.secrets.push_back({i < found.size() ? lines[i++] : 0, std::string(kind)});
    }
    std::ranges::stable_sort(packed_.secrets, {}, &PackedSecret::line);
  }

  PackedFile Show(std::string text) {
    if (!utf8::IsValid(text)) {
      text = utf8::Sanitize(text);
      facts_->sanitized = true;
    }
    if (text.find('\0') != std::string::npos) {
      text = ReplaceAll(text, std::string_view("\0", 1), "\xEF\xBF\xBD");
      facts_->sanitized = true;
    }
    if (options_.secrets != SecretPolicy::kAllow) {
      const std::vector<Secret> found = FindSecrets(text);
      const std::vector<std::size_t> lines = LinesOf(text, found);
      for (std::size_t i = 0; i < found.size(); ++i) {
        packed_.secrets.push_back({lines[i], std::string(found[i].kind)});
      }
      if (!found.empty()) {
        if (options_.secrets == SecretPolicy::kExclude && !file_.named) {
          return LeaveOut(LeftOut::kSecretFound, "");
        }
        text = Redact(text, found);
      }
    }
    const bool outline = options_.forms == PackOptions::Forms::kAll || options_.budget;
    if (outline || ranking_) {
      const CodeFacts code = ReadCode(LanguageOf(file_.path), text);
      if (ranking_) facts_->ranked = ranking_->Read(file_.path, code, text);
      if (outline) RenderOutline(text, code);
    }
    const bool numbered = options_.line_numbers == LineNumbers::kYes;
    packed_.full =
        RenderFile({options_.format, shown_, ""}, numbered ? WithLineNumbers(text) : text);
    packed_.full_tokens = Count(packed_.full);
    if (packed_.outline.size() >= packed_.full.size()) packed_.outline.clear();
    if (!packed_.outline.empty()) packed_.outline_tokens = Count(packed_.outline);
    return std::move(packed_);
  }

  // Returns tokens for the budget.
  std::int64_t Count(std::string_view text) {
    const tokens::Counter& counter = *options_.counter;
    if (!counter.exact()) return counter.CountText(text).upper();
    return counts_->CountText(text, counter);
  }

  void RenderOutline(std::string_view text, const CodeFacts& code) {
    const std::string body = Outline(text, code);
    if (!body.empty()) packed_.outline = RenderFile({options_.format, shown_, "outline"}, body);
  }

  const SelectedFile& file_;
  const PackOptions& options_;
  const GitFacts* git_;
  const TaskRanking* ranking_;
  tokens::CountCache* counts_;
  ReadFileFacts* facts_;
  PackedFile packed_;
  std::string shown_;
};

}  // namespace

Result<Selection> SelectFiles(const PackOptions& options, const CancelToken& cancel) {
  return Selector(options, cancel).Run();
}

PackedFile PackOneFile(const SelectedFile& file, const PackOptions& options, const GitFacts* git,
                       const TaskRanking* ranking, tokens::CountCache* counts,
                       ReadFileFacts* facts) {
  return FilePacker(file, options, git, ranking, counts, facts).Run();
}

std::string PathForText(std::string_view path) {
  const bool plain =
      utf8::IsValid(path) && std::none_of(path.begin(), path.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '"' || c == '\\';
      });
  const bool spaced = path.starts_with(' ') || path.ends_with(' ');
  if (plain && !spaced) return std::string(path);
  return ToJson(Json(utf8::Sanitize(path)));
}

PathGlobs::PathGlobs(const std::vector<std::string>& patterns) {
  for (const std::string& given : patterns) {
    std::vector<std::string> all = ExpandBraces(given);
    if (all.size() > 1) all.push_back(given);  // a name may contain braces itself
    for (std::string_view pattern : all) {
      if (pattern.starts_with("./")) pattern.remove_prefix(2);
      const bool anchored = pattern.starts_with('/');
      if (anchored) pattern.remove_prefix(1);
      while (pattern.ends_with('/')) pattern.remove_suffix(1);
      if (pattern.empty()) continue;
      const bool whole = anchored || pattern.find('/') != std::string_view::npos;
      patterns_.push_back({std::string(pattern), Glob(pattern), whole});
    }
  }
}

bool PathGlobs::Matches(std::string_view path) const {
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& pattern) {
    if (pattern.whole_path) {
      const bool below =
          path.starts_with(pattern.literal) &&
          (path.size() == pattern.literal.size() || path[pattern.literal.size()] == '/');
      return below || pattern.glob.Matches(path);
    }
    const std::vector<std::string_view> names = Split(path, '/');
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return name == pattern.literal || pattern.glob.Matches(name);
    });
  });
}

}  // namespace dossier::sources
