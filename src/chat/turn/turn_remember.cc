// A turn's memory: shown before the model is called, asked while it answers, written with the save.

#include "base/text/text.h"
#include "chat/turn/turn_driver.h"
#include "memory/blocks/reply.h"
#include "memory/blocks/rounds.h"
#include "memory/records/operations.h"

namespace dossier::chat {
namespace {

// Of the window, at most, beside memory.memory_budget_chars: a small model keeps room to talk.
constexpr std::int64_t kMemoryShare = 4;

}  // namespace

Status TurnDriver::OpenMemory() {
  if (!parts_.memory.store) return {};
  const bool preview = request_.action == TurnRequest::Action::kPlan ||
                       request_.options.store == TurnOptions::Store::kReadOnly;
  DOSSIER_ASSIGN_OR_RETURN(
      memory_, TurnMemory::Open(parts_.memory, request_.id, stored(),
                                preview ? TurnMemory::Use::kPreview : TurnMemory::Use::kTurn));
  outcome_.memory = JsonObject{{"branch", memory_->port().branch()}};
  input_.memory.help = memory::HelpText(memory::HelpForm::kShort);
  input_.memory.boundary = memory_->Boundary(request_.id);
  return MakeRoom();
}

// Before a render and after an applied block, never under the conversation's lock: a model may be
// asked for summaries.
Status TurnDriver::MakeRoom() {
  DOSSIER_ASSIGN_OR_RETURN(const auto made, memory_->port().MakeRoom());
  if (!made) return {};
  for (const memory::Notice& warning : made->warnings) Warn("memory: " + warning.text);
  Log("memory.room", memory::ConsolidationJson(made->done));
  return {};
}

Status TurnDriver::RenderMemory() {
  if (!memory_) return {};
  memory::RenderRequest request = memory_->port().RequestFor(
      input_.prompt, *model_.counter, model_.entry.capability.window / kMemoryShare);
  request.stopwatch = parts_.clock.get();
  DOSSIER_ASSIGN_OR_RETURN(memory::Injection shown,
                           memory_->Render(request, stored(), input_.compaction));
  input_.memory.core = std::move(shown.core);
  input_.memory.rest = std::move(shown.rest);
  shown_memory_ = memory::AccountingJson(shown.accounting);
  outcome_.memory.as_object()["shown"] = shown_memory_;
  WarnUnlogged(memory_->port().Log({.op = "show",
                                    .layer = "prompt",
                                    .memory_type = "store",
                                    .run = log_.run(),
                                    .details = shown_memory_}));
  return {};
}

Result<model::Reply> TurnDriver::NextReply() {
  if (memory_) return ReplyInRounds();
  DOSSIER_ASSIGN_OR_RETURN(model::Reply reply, FinalReply());
  memory::ParsedReply parsed = memory::RemoveBlocks(reply.text);
  for (const memory::Notice& notice : parsed.warnings) Warn(notice.text);
  reply.text = std::move(parsed.payload);
  if (!TrimSpace(reply.text).empty() || parsed.warnings.empty()) return reply;
  return MakeError(ErrorCode::kNetwork,
                   "the model returned a memory block and no text; --memory turns memory on");
}

// The loop of all callers. Reads are answered at once; what the accepted reply writes waits for the
// save of the turn.
Result<model::Reply> TurnDriver::ReplyInRounds() {
  model::Reply reply;
  with_block_.clear();
  const memory::RoundLimits limits{.read_rounds =
                                       parts_.memory.store->limits().max_memory_read_rounds};
  std::string last;
  const auto ask = [&](const memory::Ask& ask) -> Result<std::string> {
    DOSSIER_ASSIGN_OR_RETURN(last, AskInRound(ask, &reply));
    return last;
  };
  const auto accept = [](std::string_view) { return Status(); };
  const auto apply = [&](const memory::ParsedReply& parsed) -> Result<std::string> {
    for (const memory::Notice& notice : parsed.warnings) Warn(notice.text);
    if (!parsed.payload.empty()) {
      if (parsed.block) with_block_ = last;
      return std::string();
    }
    Log("memory.read", {{"input", parsed.block->input}});
    DOSSIER_ASSIGN_OR_RETURN(const memory::UpdateResult result,
                             memory_->port().Apply(*parsed.block, {}));
    LogOperations(result.operations_log);
    return memory::ResultsText(result.reads);
  };
  Result<memory::RoundsOutcome> done = memory::RunRounds(limits, ask, accept, apply);
  input_.memory.results.clear();
  input_.memory.feedback.clear();
  input_.memory.asked = MemoryTexts::Asked::kReply;
  // What a person has seen is not lost to a round behind it.
  if ((!done || done->failure) && !shown_text_.empty()) partial_ = shown_text_;
  if (!done) return tl::unexpected(done.error());
  memory::RoundsOutcome& rounds = *done;
  if (rounds.failure) {
    return MakeError(ErrorCode::kDamaged,
                     "no reply could be used after {} calls: {}: {}; their texts: dossier runs "
                     "show {}",
                     rounds.calls, rounds.failure->reason, rounds.failure->detail, log_.run());
  }
  if (!shown_text_.empty() && !rounds.reply.block) {
    Warn("the reply's memory block was not corrected; nothing of it is remembered");
  }
  shown_text_.clear();
  reply.text = std::move(rounds.payload);
  return reply;
}

// One call. Text that a person has seen is not asked for a second time: the block alone is, and
// what comes back is put together with it.
Result<std::string> TurnDriver::AskInRound(const memory::Ask& ask, model::Reply* reply) {
  const bool first = ask.results.empty() && ask.feedback.empty();
  input_.memory.results = ask.results;
  input_.memory.feedback = ask.feedback;
  input_.memory.asked =
      shown_text_.empty() ? MemoryTexts::Asked::kReply : MemoryTexts::Asked::kBlockAlone;
  if (!first) {
    DOSSIER_ASSIGN_OR_RETURN(plan_, PlanTurn(input_, stored(), gathered_->blocks, layout_,
                                             model_.entry.capability, *model_.counter));
  }
  DOSSIER_ASSIGN_OR_RETURN(*reply, FinalReply());
  if (!shown_text_.empty()) return memory::FirstBlock(reply->text) + "\n\n" + shown_text_;
  const memory::ParsedReply parsed = memory::ParseReply(reply->text);
  if (parsed.fault && !TrimSpace(parsed.payload).empty()) shown_text_ = parsed.payload;
  return reply->text;
}

// Under the conversation's lock, right before its file is written. What memory cannot take is said;
// the conversation is saved all the same.
Json TurnDriver::Remember(std::string_view conversation, std::int64_t number) {
  TurnMemory::KeptTurn turn{.conversation = std::string(conversation),
                            .number = number,
                            .run = log_.run(),
                            .user = input_.prompt,
                            .assistant = answer_->text,
                            .reply = completeness_};
  if (!answer_->with_block.empty()) {
    turn.block = memory::ParseReply(answer_->with_block).block;
  }
  Result<TurnMemory::Kept> kept = memory_->Keep(turn);
  if (!kept) {
    Warn("this turn is not in memory: " + kept.error().message);
    const bool locked = kept.error().code == ErrorCode::kLocked;
    outcome_.exit = ExitCode(locked ? ErrorCode::kLocked : ErrorCode::kFailed);
    return nullptr;
  }
  for (const std::string& warning : kept->warnings) Warn(warning);
  if (!kept->record.is_null()) {
    WarnUnlogged(
        memory_->port().Log({.op = "recall_append",
                             .layer = "turn",
                             .memory_type = "recall",
                             .run = log_.run(),
                             .details = {{"thread", turn.conversation}, {"turn", number}}}));
  }
  if (!kept->applied.empty()) {
    const Json* operations = kept->applied.if_contains("operations_log");
    if (operations && operations->is_array()) LogOperations(operations->as_array());
    outcome_.memory.as_object()["block"] = kept->applied;
    Log("memory.applied", std::move(kept->applied));
  }
  return std::move(kept->record);
}

void TurnDriver::LogOperations(const JsonArray& operations_log) {
  WarnUnlogged(memory_->port().LogOperations({.run = log_.run()}, operations_log));
}

void TurnDriver::WarnUnlogged(const Status& logged) {
  if (!logged) Warn("the use of memory is not logged: " + logged.error().message);
}

void TurnDriver::RememberStateless() {
  if (memory_) Remember("", 1);
  MakeRoomAfterBlock();
}

void TurnDriver::MakeRoomAfterBlock() {
  if (!memory_ || !Find(outcome_.memory, "block")) return;
  if (const Status made = MakeRoom(); !made) Warn("memory made no room: " + made.error().message);
}

}  // namespace dossier::chat
