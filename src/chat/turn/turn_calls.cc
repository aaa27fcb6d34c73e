// The model's part of a turn: calls, tools, repair rounds, replies that break off.

#include "chat/document/wire.h"
#include "chat/turn/turn_driver.h"

namespace dossier::chat {
namespace {

// Returns what a repair round tells the model: prompts/schema_repair.md.
Result<std::string> RepairText(const std::vector<std::string>& violations,
                               const assembly::AssetFolders& folders) {
  DOSSIER_ASSIGN_OR_RETURN(const assembly::Template text,
                           assembly::FindTemplate("schema_repair.md", folders));
  std::string lines;
  for (const std::string& violation : violations) {
    lines += (lines.empty() ? "- " : "\n- ") + violation;
  }
  return assembly::RenderTemplate(text, {{"violations", lines}}, /*boundary=*/{});
}

using assembly::Role;
using assembly::Turn;

Json CallsJson(const std::vector<model::ToolCall>& calls) {
  JsonArray out;
  for (const model::ToolCall& call : calls) {
    out.push_back(JsonObject{{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
  }
  return out;
}

std::string RetrySentence(int attempt, const Error& error, Millis wait) {
  return fmt::format("attempt {} failed: {}; the next one in {:.1f} s", attempt, error.message,
                     static_cast<double>(wait.count()) / 1000.0);
}

}  // namespace

model::Request TurnDriver::MakeRequest(const assembly::Assembled& prompt,
                                       model::Purpose purpose) const {
  model::Request request = driver::RequestTo(model_, prompt, purpose);
  if (request_.schema) request.schema = request_.schema->json();
  if (tools_use_ == ToolsUse::kOff) request.tool_use = model::Request::ToolUse::kNone;
  request.raw = request_.raw;
  request.turn = plan_ ? plan_->turn : 1;
  return request;
}

Status TurnDriver::Converse() {
  if (!parts_.tools.empty()) {
    tools_.emplace(parts_.tools, request_.tool_limits,
                   ToolWatch{.confirm = parts_.confirm,
                             .done = [this](const JsonObject& record, std::string_view why) {
                               JsonObject event = record;
                               event["why"] = why;
                               Log("tool.done", std::move(event));
                               events_.OnTool(record, why);
                             }});
  }
  const Status done = request_.schema ? CheckedConverse() : [this]() -> Status {
    DOSSIER_ASSIGN_OR_RETURN(const model::Reply reply, NextReply());
    return Accept(reply, reply.text);
  }();
  if (tools_) outcome_.tools = tools_->records();
  if (!done && !partial_.empty() && !request_.schema) return KeepIncomplete(done.error());
  return done;
}

// Repair rounds: the same messages, the reply, and its faults.
Status TurnDriver::CheckedConverse() {
  for (int round = 0;; ++round) {
    DOSSIER_ASSIGN_OR_RETURN(const model::Reply reply, NextReply());
    model::CheckedReply checked = model::CheckReply(reply.text, *request_.schema);
    for (const std::string& warning : checked.warnings) Warn(warning);
    if (checked.value) {
      outcome_.data = checked.value->with_texts();
      return Accept(reply, std::move(checked.text));
    }
    if (round >= request_.repair_rounds) return Refuse(checked, reply);
    Log("answer.refused", {{"reason", checked.violations.front()}, {"round", round + 1}});
    Warn(fmt::format("the reply does not match the schema; repair round {}", round + 1));
    DOSSIER_ASSIGN_OR_RETURN(std::string text, RepairText(checked.violations, parts_.folders));
    input_.steps.push_back(model::AssistantTurn(reply));
    input_.steps.push_back({.role = Role::kUser, .blocks = {{.text = std::move(text)}}});
    DOSSIER_ASSIGN_OR_RETURN(plan_, PlanTurn(input_, stored(), gathered_->blocks, layout_,
                                             model_.entry.capability, *model_.counter));
  }
}

Status TurnDriver::Refuse(const model::CheckedReply& checked, const model::Reply& reply) {
  outcome_.violations = checked.violations;
  outcome_.finish = model::FinishName(reply.finish);
  return MakeError(ErrorCode::kSchema,
                   "the reply does not match the schema after {} repair round{}; its text: dossier "
                   "runs show {}",
                   request_.repair_rounds, request_.repair_rounds == 1 ? "" : "s", log_.run());
}

// Calls the model until it wants no more tools, or may use no more.
Result<model::Reply> TurnDriver::FinalReply() {
  while (true) {
    const auto purpose =
        input_.steps.empty() || tools_ ? model::Purpose::kRoot : model::Purpose::kRepair;
    DOSSIER_ASSIGN_OR_RETURN(model::Reply reply, CallModel(purpose));
    const bool wants_tools = !reply.tool_calls.empty();
    if (!wants_tools || !tools_ || tools_use_ == ToolsUse::kOff) {
      if (!reply.text.empty()) return reply;
      return MakeError(ErrorCode::kNetwork, "the model returned no text (finish reason {})",
                       model::FinishName(reply.finish));
    }
    partial_.clear();  // text before a call is not an answer
    input_.steps.push_back(model::AssistantTurn(reply));
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<Turn> results,
                             tools_->Answer(reply.tool_calls, cancel_));
    input_.steps.insert(input_.steps.end(), results.begin(), results.end());
    if (tools_->limit()) {
      tools_use_ = ToolsUse::kOff;
      Warn(*tools_->limit());
    }
    DOSSIER_ASSIGN_OR_RETURN(plan_, PlanTurn(input_, stored(), gathered_->blocks, layout_,
                                             model_.entry.capability, *model_.counter));
  }
}

Result<model::Reply> TurnDriver::CallModel(model::Purpose purpose) {
  // Used even without memory: a block is never shown.
  memory::BlockFilter filter;
  const auto show = [this](const std::string& text) {
    if (!text.empty()) events_.OnDelta(text);
  };
  driver::CallHooks hooks{
      .sent = [this, purpose] { LogRequest(purpose); },
      .on_retry = [this](int attempt, const Error& error,
                         Millis wait) { events_.OnRetry(RetrySentence(attempt, error, wait)); }};
  if (!request_.schema && !tools_ && shown_text_.empty()) {
    hooks.on_delta = [&](std::string_view text, std::string_view) { show(filter.Push(text)); };
  }
  partial_.clear();
  driver::Called called = caller_.Ask(model_, MakeRequest(plan_->request, purpose), hooks, cancel_);
  if (hooks.on_delta) show(filter.Finish());
  partial_ = memory::RemoveBlocks(called.partial).payload;
  if (called.first_text && !outcome_.times.first_token) {
    outcome_.times.first_token = std::chrono::duration_cast<Millis>(*called.first_text - begun_);
  }
  NoteUsage();
  if (!called.reply) return tl::unexpected(called.reply.error());
  const model::Reply& reply = *called.reply;
  Log("reply.received", {{"purpose", model::PurposeName(purpose)},
                         {"body", log_.Body(reply.text)},
                         {"finish", model::FinishName(reply.finish)},
                         {"attempts", reply.attempts},
                         {"tool_calls", CallsJson(reply.tool_calls)},
                         {"usage", UsageJson(reply.usage)}});
  for (const std::string& warning : reply.warnings) Warn(warning);
  if (reply.finish == model::Finish::kCut) {
    return MakeError(ErrorCode::kNetwork, "the reply broke off");
  }
  return std::move(*called.reply);
}

void TurnDriver::NoteUsage() {
  // The ledger's usage, not the caller's: failed and interrupted calls count too.
  const model::UsageSum sum = ledger_.use().spent;
  outcome_.usage = sum.total;
  outcome_.calls = sum.calls;
}

void TurnDriver::LogRequest(model::Purpose purpose) {
  const Json messages = assembly::ToCanonicalJson(plan_->request.messages);
  Log("request.sent", {{"purpose", model::PurposeName(purpose)},
                       {"turn", plan_->turn},
                       {"tokens", plan_->request.tokens},
                       {"messages", log_.Body(dossier::ToJson(messages))}});
  if (memory_) Log("memory.shown", shown_memory_);
}

Status TurnDriver::Accept(const model::Reply& reply, std::string text) {
  if (reply.finish == model::Finish::kLength || reply.finish == model::Finish::kFilter ||
      reply.finish == model::Finish::kRefused) {
    Warn(fmt::format("the reply is not whole (finish reason {})", model::FinishName(reply.finish)));
  }
  outcome_.finish = model::FinishName(reply.finish);
  outcome_.raw = reply.raw;
  answer_ = AcceptedAnswer{.text = std::move(text),
                           .model = model_.stored,
                           .finish = outcome_.finish,
                           .usage = UsageJson(outcome_.usage),
                           .tools = tools_ ? tools_->records() : JsonArray(),
                           .with_block = std::exchange(with_block_, {})};
  if (tools_ && request_.tool_history == TurnRequest::ToolHistory::kFull) {
    for (const Turn& step : input_.steps) answer_->messages.push_back(ToMessage(step));
  }
  answer_->messages.push_back({{"role", "assistant"}, {"content", answer_->text}});
  Log("answer.accepted", {{"answer", log_.Body(dossier::ToJson(ToJson(*answer_)))}});
  return {};
}

// Keeps and marks the text that had arrived.
Status TurnDriver::KeepIncomplete(const Error& why) {
  completeness_ = TurnRecord::Reply::kIncomplete;
  outcome_.incomplete = fmt::format("{}: the reply is incomplete{}", why.message,
                                    stateless() ? "" : "; --resume-turn, or /retry, asks again");
  Warn(outcome_.incomplete);
  outcome_.finish = model::FinishName(model::Finish::kCut);
  answer_ = AcceptedAnswer{.text = partial_,
                           .model = model_.stored,
                           .finish = outcome_.finish,
                           .usage = UsageJson(outcome_.usage),
                           .tools = outcome_.tools};
  answer_->messages.push_back({{"role", "assistant"}, {"content", partial_}});
  return {};
}

}  // namespace dossier::chat
