#include "sources/header/data_file.h"

#include <charconv>
#include <filesystem>

#include "assembly/layout/yaml_table.h"
#include "base/files/file.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/yaml/yaml.h"
#include "sources/header/edn.h"

namespace dossier::sources {
namespace {

constexpr std::size_t kMaxBytes = kMaxEdnBytes;
// 10,000 tasks of ten keys and a few items each.
constexpr std::size_t kMaxNodes = 1'000'000;

Status NormalizeKeys(std::string_view file, Json* value) {
  if (auto* list = value->if_array()) {
    for (Json& item : *list) DOSSIER_RETURN_IF_ERROR(NormalizeKeys(file, &item));
  }
  auto* map = value->if_object();
  if (!map) return {};
  JsonObject out;
  for (auto& [key, inner] : *map) {
    DOSSIER_RETURN_IF_ERROR(NormalizeKeys(file, &inner));
    if (!out.emplace(NormalKey(key), std::move(inner)).second) {
      return MakeError(ErrorCode::kConfig, "{}: duplicate key {}", file, std::string_view(key));
    }
  }
  *value = std::move(out);
  return {};
}

// ParseJson names a byte; people look for lines.
Result<Json> ParseJsonFile(std::string_view text, std::string_view file) {
  auto parsed = ParseJson(text);
  if (parsed) return parsed;
  const std::string& message = parsed.error().message;
  constexpr std::string_view kByte = "at byte ";
  const std::size_t mark = message.find(kByte);
  std::size_t offset = 0;
  if (mark != std::string::npos) {
    std::from_chars(message.data() + mark + kByte.size(), message.data() + message.size(), offset);
  }
  return MakeError(ErrorCode::kConfig, "{}: {}",
                   PlaceInText(file, text, std::min(offset, text.size())), message);
}

Result<YamlNode> ReadYamlFile(std::string_view text, std::string_view file) {
  return assembly::ReadYaml(text, file, {.max_bytes = kMaxBytes, .max_nodes = kMaxNodes});
}

// The child of `node` at one step of a path, and its place.
const YamlNode* StepInto(const YamlNode& node, std::string_view step, int* line, int* column) {
  for (const YamlEntry& entry : node.entries) {
    if (NormalKey(entry.key) != step) continue;
    *line = entry.line, *column = entry.column;
    return &entry.value;
  }
  const auto index = ExactNumber<std::size_t>(step);
  if (node.kind != YamlNode::Kind::kList || !index || *index >= node.items.size()) return nullptr;
  *line = node.items[*index].line, *column = node.items[*index].column;
  return &node.items[*index];
}

}  // namespace

std::string DataFile::PlaceOf(std::string_view path) const {
  if (file.ends_with(".edn")) return PlaceInText(file, text, FindInEdn(text, path));
  const auto root = ReadYamlFile(text, file);  // JSON is YAML, but for tabs
  if (!root) return file;
  int line = root->line, column = root->column;
  const YamlNode* node = &*root;
  for (const std::string_view step : Split(path, '/')) {
    if (step.empty()) continue;
    node = StepInto(*node, step, &line, &column);
    if (!node) break;
  }
  return fmt::format("{}:{}:{}", file, line, column);
}

bool HasDataEnding(std::string_view file) {
  for (const std::string_view ending : kDataEndings) {
    if (file.ends_with(ending)) return true;
  }
  return false;
}

Result<DataFile> ParseData(std::string text, std::string_view file) {
  DataFile data;
  if (file.ends_with(".edn")) {
    DOSSIER_ASSIGN_OR_RETURN(EdnDocument document, ParseEdn(text, file));
    data.value = std::move(document.value);
    data.warnings = std::move(document.warnings);
  } else if (file.ends_with(".json")) {
    DOSSIER_ASSIGN_OR_RETURN(data.value, ParseJsonFile(text, file));
    DOSSIER_RETURN_IF_ERROR(NormalizeKeys(file, &data.value));
  } else if (HasDataEnding(file)) {
    DOSSIER_ASSIGN_OR_RETURN(const YamlNode node, ReadYamlFile(text, file));
    data.value = ToJsonValue(node);
    DOSSIER_RETURN_IF_ERROR(NormalizeKeys(file, &data.value));
  } else {
    return MakeError(ErrorCode::kConfig, "{}: the name must end in .edn, .yaml, .yml or .json",
                     file);
  }
  data.text = std::move(text);
  data.file = file;
  return data;
}

Result<DataFile> ReadDataFile(const std::string& root, const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(root) / file;
  // A pipe would be waited for.
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  using std::filesystem::file_type;
  if (kind != file_type::regular && kind != file_type::not_found && kind != file_type::none) {
    return MakeError(ErrorCode::kConfig, "{}: is no regular file", file);
  }
  auto text = ReadFile(path.string(), kMaxBytes);
  if (!text) {
    if (text.error().code == ErrorCode::kNotFound) {
      return MakeError(ErrorCode::kConfig, "{}: there is no such file", file);
    }
    return MakeError(ErrorCode::kConfig, "{}: {}", file, text.error().message);
  }
  return ParseData(std::move(*text), file);
}

Result<std::optional<std::string>> FindDataFile(const std::string& root, std::string_view stem) {
  std::optional<std::string> found;
  for (const std::string_view ending : kDataEndings) {
    const std::string file = fmt::format("{}{}", stem, ending);
    if (!Exists((std::filesystem::path(root) / file).string())) continue;
    if (found) {
      return MakeError(ErrorCode::kConfig, "{} and {} are both there: keep one of them", *found,
                       file);
    }
    found = file;
  }
  return found;
}

}  // namespace dossier::sources
