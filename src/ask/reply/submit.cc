#include "ask/reply/submit.h"

#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr std::string_view kName = "SUBMIT";

// Returns true for SUBMIT({…}) alone, with an optional semicolon.
bool IsSubmissionLine(std::string_view line) {
  line = TrimSpace(line);
  if (line.ends_with(';')) line = TrimSpace(line.substr(0, line.size() - 1));
  return line.starts_with("SUBMIT(") && line.ends_with(')');
}

}  // namespace

std::string SubmissionCode(const model::ToolCall& call) {
  return fmt::format("{}({})", kName, ToJson(call.arguments));
}

std::optional<Submission> FindSubmission(std::span<const model::ToolCall> calls,
                                         std::string_view text_outside, ToolUse tools) {
  Submission found{.count = 0};
  const auto add = [&found](std::string code) {
    if (found.count++ == 0) found.code = std::move(code);
  };
  if (tools == ToolUse::kOffered) {
    for (const model::ToolCall& call : calls) {
      if (call.name == kName) add(SubmissionCode(call));
    }
  } else {
    for (const std::string_view line : Split(text_outside, '\n')) {
      if (IsSubmissionLine(line)) add(std::string(TrimSpace(line)));
    }
  }
  return found.count > 0 ? std::optional(std::move(found)) : std::nullopt;
}

assembly::ToolSpec SubmitTool() {
  const auto field = [](std::string_view about) {
    return JsonObject{{"type", "string"}, {"description", about}};
  };
  return {
      .name = std::string(kName),
      .description = "Hands in the final answer and ends the work. Give exactly one of the fields.",
      .parameters = JsonObject{
          {"type", "object"},
          {"properties",
           JsonObject{{"answer", field("the answer itself")},
                      {"variable", field("the name of a variable of the session that holds "
                                         "the answer")},
                      {"value", JsonObject{{"description",
                                            "the answer as data, where it has to fit a "
                                            "schema"}}}}},
          {"additionalProperties", false}}};
}

}  // namespace dossier::ask
