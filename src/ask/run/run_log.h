// Writes every event of one run to the journal and to the observer.
//
//   AskLog log(journal, events, clock);
//   log.Start({{"question", question}});
//   log.Add(0, "turn.started", {{"turn", 1}});
//
// With a Replay, recorded events are used up instead of written, and an event that differs from the
// record is reported as `replay.diverged`.
//
// A failure to write the journal never ends a run: the first failure becomes a warning, and events
// still reach the sink. Thread-safety: all methods from any thread; events keep one order.

// A call of the run writes through a CallLog, which adds the call's number to each event:
//
//   const CallLog own(log, 3);
//   own.Add("turn.started", {{"turn", 1}});

#ifndef DOSSIER_ASK_RUN_RUN_LOG_H_
#define DOSSIER_ASK_RUN_RUN_LOG_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ask/engine.h"
#include "ask/run/replay.h"
#include "assembly/layout/messages.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "driver/run_log.h"
#include "store/journal.h"

namespace dossier::ask {

class AskLog {
 public:
  // kNot: nothing is written; texts are only compared with what `replay` holds.
  enum class Writes : std::uint8_t { kAll, kNot };
  AskLog(std::shared_ptr<store::Journal> journal, EventSink& sink,
         std::shared_ptr<const Clock> clock, std::shared_ptr<Replay> replay = nullptr,
         Writes writes = Writes::kAll);

  void Start(JsonObject data);
  void Add(std::int64_t call, std::string_view type, JsonObject data);
  // Adds `request.sent`, with `messages` under `key`, in one step, so that no other request of the
  // run refers to a message before it is written.
  void AddSent(std::int64_t call, JsonObject data, std::string_view key,
               const assembly::Messages& messages);
  // Returns true if the record has the answer to the loop's next request, which is for `purpose`.
  // The request is then used up at its position, before a gate looks for the answer.
  bool HasAnswered(std::int64_t call, std::string_view purpose) const {
    return replay_ && replay_->HasAnswered(call, purpose);
  }
  // Records where the run continues (`run.resumed`, `run.forked`). Must be the first event added.
  void Continue(std::string_view type, JsonObject data);
  // Returns the data of the next recorded event, which then need not be added; none if the call is
  // live. `of` as in Replay::Reuse.
  std::optional<JsonObject> Reuse(std::int64_t call, std::string_view type,
                                  std::string_view of = {});
  bool repeats() const { return replay_ != nullptr; }
  // Returns the recorded number of the call at this path in the tree.
  std::optional<std::int64_t> CallAt(const std::string& path) const {
    return replay_ ? replay_->CallAt(path) : std::nullopt;
  }
  bool Holds(const std::string& request_hash) const {
    return replay_ && replay_->Holds(request_hash);
  }
  Json Body(std::string_view text) { return log_.Body(text); }
  // Reads the text of a recorded body. Errors: as Journal::ReadBody; kNotFound without a journal.
  Result<std::string> ReadBody(const Json* body) const;
  // Lists the messages of a request: [1, 2, {"n":3,"role":"user","body":…}]. Each is written once
  // per run, when first sent, and later only referred to, so a turn adds only what is new.
  Json Messages(const assembly::Messages& messages) { return Listed(messages, Telling::kTells); }
  // Lists the messages of a request that was never sent. Messages that no sent request has written
  // out have no number.
  Json Unsent(const assembly::Messages& messages) { return Listed(messages, Telling::kNames); }
  // Adds the root's warnings to `warnings`; a child's warnings are only in the journal.
  void Warn(std::int64_t call, std::string_view code, Json data = nullptr);
  void Delta(std::string_view text) { sink_.OnDelta(text); }

  std::string run() const { return log_.run(); }
  std::vector<Warning> warnings() const;

 private:
  enum class Telling : std::uint8_t { kTells, kNames };
  Json Listed(const assembly::Messages& messages, Telling telling);
  void NoteUntold(const JsonObject& data);
  void Write(std::int64_t call, std::string_view type, JsonObject data);

  EventSink& sink_;
  const std::shared_ptr<store::Journal> journal_;
  driver::RunLog log_;
  const std::shared_ptr<Replay> replay_;  // null: nothing is replayed
  const Writes writes_;
  std::mutex telling_;        // held while messages are written out
  mutable std::mutex mutex_;  // guards the members below
  std::vector<Warning> warnings_;
  std::map<std::string, std::int64_t> told_;  // message numbers, by hash
  std::set<std::int64_t> untold_;             // numbers in told_ whose text no event has
  std::int64_t last_told_ = 0;
};

// The events of one call (0 for the root). Copies are equivalent.
class CallLog {
 public:
  // `log` must outlive it.
  CallLog(AskLog& log, std::int64_t call) : log_(log), call_(call) {}

  void Add(std::string_view type, JsonObject data) const { log_.Add(call_, type, std::move(data)); }
  void Warn(std::string_view code, Json data = nullptr) const {
    log_.Warn(call_, code, std::move(data));
  }
  Json Body(std::string_view text) const { return log_.Body(text); }
  std::optional<JsonObject> Reuse(std::string_view type, std::string_view of = {}) const {
    return log_.Reuse(call_, type, of);
  }
  bool Holds(const std::string& request_hash) const { return log_.Holds(request_hash); }
  Result<std::string> ReadBody(const Json* body) const { return log_.ReadBody(body); }
  void AddSent(JsonObject data, std::string_view key, const assembly::Messages& messages) const {
    log_.AddSent(call_, std::move(data), key, messages);
  }
  bool HasAnswered(std::string_view purpose) const { return log_.HasAnswered(call_, purpose); }
  // Shows only the root's reply as it arrives: the replies of several calls would be interleaved.
  void Delta(std::string_view text) const {
    if (call_ == 0) log_.Delta(text);
  }
  AskLog& log() const { return log_; }
  std::string run() const { return log_.run(); }
  std::vector<Warning> warnings() const { return log_.warnings(); }

 private:
  AskLog& log_;
  const std::int64_t call_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_RUN_LOG_H_
