#include "model/schema/schema_reply.h"

#include "base/text/text.h"

namespace dossier::model {
namespace {

constexpr std::string_view kFence = "```";

// Returns the text inside a pair of fences around the whole text; nullopt if there is none.
std::optional<std::string_view> WithoutFence(std::string_view text) {
  const std::size_t line = text.find('\n');
  if (!text.starts_with(kFence) || line == std::string_view::npos) return std::nullopt;
  std::string_view inside = text.substr(line + 1);
  if (!inside.ends_with(kFence)) return std::nullopt;
  inside.remove_suffix(kFence.size());
  inside = TrimSpace(inside);
  // Two blocks are not one surrounding fence, but a string within the JSON may contain a fence.
  if (inside.find(kFence) != inside.npos && !ExactJson::Parse(inside)) return std::nullopt;
  return inside;
}

}  // namespace

CheckedReply CheckReply(std::string_view text, const JsonSchema& schema) {
  CheckedReply out;
  std::string_view json = TrimSpace(text);
  if (const auto inside = WithoutFence(json)) {
    out.warnings.emplace_back("the reply stood in a code fence, which was removed");
    json = *inside;
  }
  out.text = json;
  auto value = ExactJson::Parse(json);
  if (!value) {
    out.violations.push_back("the reply: is not JSON: " + value.error().message);
    return out;
  }
  for (const SchemaViolation& violation : schema.Check(value->nearest())) {
    out.violations.push_back(fmt::format(
        "{}: {}", violation.pointer.empty() ? "the reply" : violation.pointer, violation.reason));
  }
  if (out.violations.empty()) out.value = std::move(*value);
  return out;
}

}  // namespace dossier::model
