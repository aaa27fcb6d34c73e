#include "assembly/layout/yaml_fields.h"

#include "base/text/parse.h"

namespace dossier::assembly {

Status ReadString(const FieldPlace& at, std::string* out) {
  if (at.value.kind != YamlNode::Kind::kScalar) {
    return at.Fail(fmt::format("{} must be a text", at.key));
  }
  *out = at.value.scalar;
  return {};
}

Status ReadStrings(const FieldPlace& at, std::vector<std::string>* out) {
  if (at.value.kind != YamlNode::Kind::kList) {
    return at.Fail(fmt::format("{} must be a list", at.key));
  }
  for (const YamlNode& item : at.value.items) {
    std::string text;
    DOSSIER_RETURN_IF_ERROR(ReadString({at.file, at.key, item}, &text));
    out->push_back(std::move(text));
  }
  return {};
}

Status ReadFlag(const FieldPlace& at, bool* out) {
  const bool plain =
      at.value.kind == YamlNode::Kind::kScalar && at.value.style == YamlNode::Style::kPlain;
  if (!plain || (at.value.scalar != "true" && at.value.scalar != "false")) {
    return at.Fail(fmt::format("{} must be true or false", at.key));
  }
  *out = at.value.scalar == "true";
  return {};
}

namespace {

// Returns nullopt if the value is not a number, or is in quotes.
template <typename Number>
std::optional<Number> PlainNumber(const YamlNode& node) {
  const bool plain = node.kind == YamlNode::Kind::kScalar && node.style == YamlNode::Style::kPlain;
  return plain ? ExactNumber<Number>(node.scalar) : std::nullopt;
}

}  // namespace

Status ReadWhole(const FieldPlace& at, std::int64_t least, std::int64_t* out) {
  const auto number = PlainNumber<std::int64_t>(at.value);
  if (!number || *number < least) {
    return at.Fail(fmt::format("{} must be a whole number from {} up", at.key, least));
  }
  *out = *number;
  return {};
}

Status ReadNumber(const FieldPlace& at, double low, double high, double* out) {
  const auto number = PlainNumber<double>(at.value);
  if (!number || !(*number >= low && *number <= high)) {
    return at.Fail(fmt::format("{} must be a number from {} to {}", at.key, low, high));
  }
  *out = *number;
  return {};
}

Status ReadChoice(const FieldPlace& at, std::span<const std::string_view> names, std::size_t* out) {
  if (at.value.kind == YamlNode::Kind::kScalar) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == at.value.scalar) {
        *out = i;
        return {};
      }
    }
  }
  const std::vector<std::string> known(names.begin(), names.end());
  return at.Fail(Guess(fmt::format("unknown {}", at.key), at.value.scalar, known));
}

}  // namespace dossier::assembly
