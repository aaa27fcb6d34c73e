#include "chat/turn/tool_calls.h"

#include <algorithm>

#include "base/text/text.h"

namespace dossier::chat {
namespace {

assembly::Turn ResultTurn(const model::ToolCall& call, std::string text) {
  return {.role = assembly::Role::kTool,
          .blocks = {{.type = assembly::Block::Type::kToolResult,
                      .text = std::move(text),
                      .call_id = call.id,
                      .tool_name = call.name}}};
}

}  // namespace

Result<std::vector<assembly::Turn>> ToolCalls::Answer(const std::vector<model::ToolCall>& calls,
                                                      const CancelToken& cancel) {
  std::vector<assembly::Turn> results;
  for (const model::ToolCall& call : calls) {
    if (!limit_ && used_ >= limits_.commands) {
      limit_ = fmt::format("limit of {} commands reached", limits_.commands);
    }
    if (limit_) {
      results.push_back(ResultTurn(call, "not run: " + *limit_));
      continue;
    }
    ++used_;
    DOSSIER_ASSIGN_OR_RETURN(std::string text, AnswerOne(call, cancel));
    results.push_back(ResultTurn(call, std::move(text)));
    if (refused_ >= limits_.refusals) {
      limit_ = fmt::format("limit of {} refused commands in a row reached", limits_.refusals);
    }
  }
  return results;
}

// Asks the policy first, then the user. `tool`: null if there is none of that name.
Result<Judged> ToolCalls::Decide(const ChatTool* tool, const model::ToolCall& call) {
  if (!tool) {
    std::vector<std::string> names;
    for (const ChatTool* one : tools_) names.push_back(one->Spec().name);
    return Judged{.reason = TextAt(call.arguments, "reason"),
                  .sentence = fmt::format("there is no tool {}; there is only {}", call.name,
                                          Join(names, ", "))};
  }
  Judged judged = tool->Judge(call);
  if (!judged.allowed || !watch_.confirm || all_agreed_) return judged;
  switch (watch_.confirm(judged)) {
    case Consent::kYes:
      break;
    case Consent::kAll:
      all_agreed_ = true;
      break;
    case Consent::kNo:
      judged.allowed = false;
      judged.rule = "the user";
      judged.sentence = "the user does not want this command to run";
      break;
    case Consent::kQuit:
      Record(judged, "quit", nullptr);
      return MakeError(ErrorCode::kRefused, "stopped: a command was not agreed to");
  }
  return judged;
}

Result<std::string> ToolCalls::AnswerOne(const model::ToolCall& call, const CancelToken& cancel) {
  const auto found = std::ranges::find_if(
      tools_, [&](const ChatTool* tool) { return tool->Spec().name == call.name; });
  const ChatTool* const tool = found == tools_.end() ? nullptr : *found;
  DOSSIER_ASSIGN_OR_RETURN(const Judged judged, Decide(tool, call));
  if (!judged.allowed) {
    ++refused_;
    Record(judged, "refused", nullptr);
    return "refused: " + judged.sentence;
  }
  refused_ = 0;
  const Result<ToolOutput> output = tool->Run(judged, cancel);
  if (!output) {
    const ErrorCode code = output.error().code;
    const bool ends = code == ErrorCode::kCancelled || code == ErrorCode::kUnavailable;
    if (ends) return tl::unexpected(output.error());
    Record(judged, "failed", nullptr);
    return "failed: " + output.error().message;
  }
  Record(judged, "run", &*output);
  return output->text;
}

void ToolCalls::Record(const Judged& judged, std::string_view decision, const ToolOutput* output) {
  JsonObject record{{"argv", JsonArray(judged.asked.begin(), judged.asked.end())},
                    {"decision", decision},
                    {"status", nullptr},
                    {"bytes", 0},
                    {"sha256", ""}};
  if (output) {
    record["status"] = output->status;
    record["bytes"] = output->bytes;
    record["sha256"] = output->sha256;
  }
  if (watch_.done) watch_.done(record, judged.allowed ? judged.reason : judged.sentence);
  records_.push_back(std::move(record));
}

}  // namespace dossier::chat
