#include "model/scripted/yaml_json.h"

#include <charconv>

#include "base/text/text.h"

namespace dossier::model {
namespace {

Json PlainScalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return nullptr;
  }
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const char* end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, integer);
      error == std::errc() && at == end) {
    return integer;
  }
  double number = 0;
  // "inf" and "nan" are words here: JSON has no such numbers.
  const bool digits = text.find_first_of("0123456789") != std::string::npos;
  if (const auto [at, error] = std::from_chars(text.data(), end, number);
      digits && error == std::errc() && at == end) {
    return number;
  }
  return Json(text);
}

}  // namespace

Json YamlToJson(const YAML::Node& node, int depth) {
  if (depth > 64) throw YAML::ParserException(node.Mark(), "nested deeper than 64");
  if (!node.IsDefined() || node.IsNull()) return nullptr;
  if (node.IsScalar()) {
    return node.Tag() == "!" ? Json(node.Scalar()) : PlainScalar(node.Scalar());
  }
  if (node.IsSequence()) {
    JsonArray array;
    for (const YAML::Node& item : node) array.push_back(YamlToJson(item, depth + 1));
    return array;
  }
  JsonObject object;
  for (const auto& item : node) {
    object[item.first.Scalar()] = YamlToJson(item.second, depth + 1);
  }
  return object;
}

YAML::Node JsonToYaml(const Json& value) {
  if (const auto* object = value.if_object()) {
    YAML::Node node(YAML::NodeType::Map);
    for (const auto& [key, item] : *object) node[std::string(key)] = JsonToYaml(item);
    return node;
  }
  if (const auto* array = value.if_array()) {
    YAML::Node node(YAML::NodeType::Sequence);
    for (const Json& item : *array) node.push_back(JsonToYaml(item));
    return node;
  }
  if (value.is_null()) return YAML::Node(YAML::NodeType::Null);
  if (const auto* text = value.if_string()) {
    YAML::Node node(std::string(text->data(), text->size()));
    node.SetTag("!");
    return node;
  }
  return YAML::Node(ToJson(value));
}

tl::unexpected<Error> YamlError(std::string_view file, const YAML::Mark& mark,
                                std::string_view reason) {
  if (mark.is_null()) return MakeError(ErrorCode::kConfig, "{}: {}", file, reason);
  return MakeError(ErrorCode::kConfig, "{}:{}:{}: {}", file, mark.line + 1, mark.column + 1,
                   reason);
}

Result<YAML::Node> ParseYaml(std::string_view text, std::string_view file) {
  const std::string_view trimmed = TrimSpace(text);
  if (!trimmed.empty() && (trimmed[0] == '{' || trimmed[0] == '[')) {
    // JSON's escapes are not all YAML's (surrogate pairs), so JSON is read as JSON first.
    if (auto json = ParseJson(trimmed)) return JsonToYaml(*json);
  }
  try {
    return YAML::Load(std::string(text));
  } catch (const YAML::Exception& error) {
    return YamlError(file, error.mark, error.msg);
  }
}

}  // namespace dossier::model
