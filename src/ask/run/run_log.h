// Every event of one run: into the journal, and to whoever watches.
//
//   RunLog log(journal, events, clock);
//   log.Start({{"question", question}});
//   log.Add(0, "turn.started", {{"turn", 1}});
//
// With a Replay, events that are recorded are used up instead of written, and one that comes out
// otherwise is told as `replay.diverged`.
//
// A journal that cannot be written never ends a run: the first failure becomes a warning, the
// events still reach the sink when the journal's disk is full. Thread-safety: all methods from any
// thread; events keep one order.

// A call of the run writes by a CallLog, which puts its own number to each event:
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

class RunLog {
 public:
  // kNot: nothing is appended; texts are only compared with what `replay` holds.
  enum class Writes : std::uint8_t { kAll, kNot };
  RunLog(std::shared_ptr<store::Journal> journal, EventSink& sink,
         std::shared_ptr<const Clock> clock, std::shared_ptr<Replay> replay = nullptr,
         Writes writes = Writes::kAll);

  void Start(JsonObject data);
  void Add(std::int64_t call, std::string_view type, JsonObject data);
  // `request.sent`, with `messages` under `key`: in one step, so that no other request of the run
  // names a message before it is told.
  void AddSent(std::int64_t call, JsonObject data, std::string_view key,
               const assembly::Messages& messages);
  // Whether the record has the answer to the loop's next request, which is for `purpose`: the
  // request is then used up in its place, before a gate looks for the answer.
  bool HasAnswered(std::int64_t call, std::string_view purpose) const {
    return replay_ && replay_->HasAnswered(call, purpose);
  }
  // Says from where the run goes on: `run.resumed`, `run.forked`. Before anything else is added.
  void Continue(std::string_view type, JsonObject data);
  // The data of the recorded event that comes next, which need not be added any more; none: it is
  // live. `of` as in Replay::Reuse.
  std::optional<JsonObject> Reuse(std::int64_t call, std::string_view type,
                                  std::string_view of = {});
  bool repeats() const { return replay_ != nullptr; }
  // The number that the call at this place of the tree has in the record.
  std::optional<std::int64_t> CallAt(const std::string& path) const {
    return replay_ ? replay_->CallAt(path) : std::nullopt;
  }
  bool Holds(const std::string& request_hash) const {
    return replay_ && replay_->Holds(request_hash);
  }
  Json Body(std::string_view text) { return log_.Body(text); }
  // The text of a body of the record. Errors: as Journal::ReadBody; kNotFound without a journal.
  Result<std::string> ReadBody(const Json* body) const;
  // The messages of a request: [1, 2, {"n":3,"role":"user","body":…}]. Each is told once a run, the
  // first time it is sent, and is only named after that: a turn adds what is new in it.
  Json Messages(const assembly::Messages& messages) { return Listed(messages, Telling::kTells); }
  // The same of a request that never left, whose messages are told by whichever is sent first:
  // those that no request has told stand there without a number.
  Json Unsent(const assembly::Messages& messages) { return Listed(messages, Telling::kNames); }
  // The root's are among `warnings`; what a child is warned of is in the journal.
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
  const std::shared_ptr<Replay> replay_;  // null: all is new
  const Writes writes_;
  std::mutex telling_;        // held while messages are told
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Warning> warnings_;
  std::map<std::string, std::int64_t> told_;  // messages, by hash
  std::set<std::int64_t> untold_;  // of those, what no event says: its own was recorded already
  std::int64_t last_told_ = 0;
};

// The events of one call, 0 for the root. A copy is as good as the original.
class CallLog {
 public:
  // `log` must outlive it.
  CallLog(RunLog& log, std::int64_t call) : log_(log), call_(call) {}

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
  // Only the root's reply is shown while it arrives: those of many calls would mix.
  void Delta(std::string_view text) const {
    if (call_ == 0) log_.Delta(text);
  }
  RunLog& log() const { return log_; }
  std::string run() const { return log_.run(); }
  std::vector<Warning> warnings() const { return log_.warnings(); }

 private:
  RunLog& log_;
  const std::int64_t call_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_RUN_LOG_H_
