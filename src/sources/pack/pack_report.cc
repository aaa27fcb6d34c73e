#include "sources/pack/pack_report.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/pack/pack_file.h"
#include "sources/pack/pack_order.h"

namespace dossier::sources {
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

// Each redaction as FILE:LINE KIND, so that one that is wrong is seen.
std::string SecretLines(const PackedFiles& packed) {
  std::size_t count = 0;
  std::string lines;
  for (const PackedFile& file : packed.files) {
    const bool shown = file.why != LeftOut::kSecretFound;
    for (const PackedSecret& secret : file.secrets) {
      if (shown) ++count;
      if (lines.size() < kMostSecretLines) {
        lines += fmt::format("  {}:{} {}{}\n", PathForText(file.path), secret.line, secret.kind,
                             shown ? "" : " (file left out)");
      }
    }
  }
  if (lines.empty()) return {};
  if (lines.size() >= kMostSecretLines) lines += "  … (--json lists all)\n";
  return fmt::format("secrets redacted: {}\n{}", GroupDigits(count), lines);
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
      secrets.push_back(JsonObject{{"line", secret.line}, {"kind", secret.kind}});
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

// A file, or a folder, with what stands in it.
struct TreeNode {
  std::int64_t tokens = 0;
  std::size_t files = 0;
  std::map<std::string, TreeNode> below;  // by name; empty: a file
  std::string_view form;                  // of a file that is not shown in full
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
