// One turn in progress: the implementation of Chat::Send. Private to this module.
//
// A turn is a run of kind "chat" in the journal. Its events, in order: run.started (kind,
// conversation, folder, model, prompt), context.started (the programs that will run), context.ready
// (what GatheredOf reads), compaction.done, request.sent and reply.received for each model call;
// tool.done for each tool call; answer.accepted (what is about to be saved), turn.saved,
// run.finished with status final, partial (incomplete), interrupted, failed or none.
//
// Steps return a Status; the first one that fails ends the turn, and Run turns it into an outcome.
// Thread-safety: one owner.

#ifndef DOSSIER_CHAT_TURN_TURN_DRIVER_H_
#define DOSSIER_CHAT_TURN_TURN_DRIVER_H_

#include <optional>
#include <string>
#include <string_view>

#include "chat/turn/chat.h"
#include "chat/turn/resume.h"
#include "chat/turn/tool_calls.h"
#include "chat/turn/turn_memory.h"
#include "driver/caller.h"
#include "memory/blocks/rounds.h"
#include "model/client/ledger.h"
#include "model/schema/schema_reply.h"

namespace dossier::chat {

class TurnDriver {
 public:
  TurnDriver(const ChatParts& parts, const TurnRequest& request, const model::LedgerLimits& limits,
             ChatEvents& events, const CancelToken& cancel);

  TurnOutcome Run();

 private:
  // turn_driver.cc: the order of steps.
  Status Steps();
  Status Load();
  Status OpenModel();
  Status ReadUserSections();
  Status GatherContext();
  void LogPrograms(const ContextNeed& need);
  void LogContext();
  Status MakePlan();
  Status Preview();
  Status Save();
  Error Rescue(const Error& why, FinishedTurn finished) const;
  void Fail(const Error& error);
  void Finish();
  void Warn(std::string_view sentence);
  // Logs an event of the run. A journal that cannot be written does not end a turn: Finish reports
  // it.
  void Log(std::string_view type, JsonObject data);

  // turn_resume.cc: resuming an interrupted turn.
  Status FindWhatIsLeft();
  Status DropLastTurn();
  void UseGathered(Gathered gathered);

  // turn_compaction.cc: compacting a long history.
  Status Compact(const std::optional<Error>& too_long);
  std::optional<std::string> Summarize(const CompactionDecision& plan);
  void ReportCompaction(const CompactedHistory& done);

  // turn_remember.cc: the memory, if there is one.
  Status OpenMemory();
  Status RenderMemory();
  Result<model::Reply> NextReply();
  Result<model::Reply> ReplyInRounds();
  Result<std::string> AskInRound(const memory::Ask& ask, model::Reply* reply);
  Json Remember(std::string_view conversation, std::int64_t number);
  void RememberStateless();
  void LogOperations(const JsonArray& operations_log);
  void WarnUnlogged(const Status& logged);
  Status MakeRoom();
  void MakeRoomAfterBlock();

  // turn_calls.cc: model calls, tools, repair rounds.
  Status Converse();
  Status CheckedConverse();
  Result<model::Reply> FinalReply();
  Result<model::Reply> CallModel(model::Purpose purpose);
  void NoteUsage();
  void LogRequest(model::Purpose purpose);
  Status Refuse(const model::CheckedReply& checked, const model::Reply& reply);
  Status Accept(const model::Reply& reply, std::string text);
  Status KeepIncomplete(const Error& why);
  model::Request MakeRequest(const assembly::Assembled& prompt, model::Purpose purpose) const;

  const Stored* stored() const { return stored_ ? &*stored_ : nullptr; }
  Millis Since(Clock::Steady from) const;
  bool stateless() const { return request_.options.kind == TurnOptions::Kind::kStateless; }

  const ChatParts& parts_;
  const TurnRequest& request_;
  ChatEvents& events_;
  const CancelToken& cancel_;
  const Clock::Steady begun_;
  driver::RunLog log_;
  model::Ledger ledger_;
  driver::Caller caller_;
  TurnOutcome outcome_;

  std::optional<Creation> creation_;
  std::optional<Error> unwritable_;  // why a new conversation will not be saved
  std::optional<Loaded> loaded_;
  std::optional<Stored> stored_;  // the basis of the turn's plan
  std::optional<FileLock> held_;
  driver::BoundModel model_;
  assembly::Layout layout_;
  std::optional<Gathered> gathered_;
  TurnInput input_;
  std::optional<TurnPlan> plan_;
  std::optional<TurnMemory> memory_;
  JsonObject shown_memory_;  // accounting of the last render
  std::string with_block_;   // the accepted reply, if it contains a block
  // Text of a reply whose block was refused: it has been shown, and becomes the answer once the
  // block is valid.
  std::string shown_text_;
  std::optional<ToolCalls> tools_;
  enum class ToolsUse { kOffered, kOff } tools_use_ = ToolsUse::kOffered;
  std::string partial_;  // of the current or the last call
  std::optional<AcceptedAnswer> answer_;
  TurnRecord::Reply completeness_ = TurnRecord::Reply::kComplete;
  FinishedTurn::Replaces replaces_ = FinishedTurn::Replaces::kNothing;
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_TURN_DRIVER_H_
