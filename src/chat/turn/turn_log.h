// One turn in the journal: a run of kind "chat".
//
//   TurnLog log(journal, TurnLog::Bodies::kKept);
//   log.Start({{"conversation", "bug-12"}, {"question", "why?"}});
//   log.Add("context.ready", {{"context", log.Body(text)}});
//
// Events, in order: run.started (kind, conversation, folder, model,
// prompt), context.ready (what
// GatheredOf reads), compaction.done, and for each model call request.sent and reply.received;
// tool.done for each call of a tool; answer.accepted (what is about to be saved), turn.saved,
// run.finished with status final, partial (incomplete), interrupted, failed or none.
//
// A journal that cannot be written never ends a turn: `failure` says so. A null journal keeps
// nothing. Thread-safety: one owner.

#ifndef DOSSIER_CHAT_TURN_TURN_LOG_H_
#define DOSSIER_CHAT_TURN_TURN_LOG_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "store/journal.h"

namespace dossier::chat {

inline constexpr std::string_view kChatRun = "chat";  // `kind` of run.started

class TurnLog {
 public:
  // kLeftOut (--no-log): sizes and hashes only.
  enum class Bodies { kKept, kLeftOut };

  TurnLog(std::shared_ptr<store::Journal> journal, Bodies bodies)
      : journal_(std::move(journal)), bodies_(bodies) {}

  void Start(JsonObject data);
  // Goes on with a run that was interrupted.
  void Resume(std::string run);
  void Add(std::string_view type, JsonObject data);
  // A text as the journal holds it.
  Json Body(std::string_view text);

  const std::string& run() const { return run_; }  // "" without a journal
  const std::optional<std::string>& failure() const { return failure_; }

 private:
  void Failed(const Error& error);

  const std::shared_ptr<store::Journal> journal_;
  const Bodies bodies_;
  std::string run_;
  std::optional<std::string> failure_;
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_TURN_LOG_H_
