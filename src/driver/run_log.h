// Records a run in the journal and shows it to a watcher: started once, then event by event.
//
//   RunLog log({.journal = journal, .watch = [](const store::Event& event) { … }});
//   DOSSIER_RETURN_IF_ERROR(log.Start({{"question", question}}));
//   DOSSIER_RETURN_IF_ERROR(log.Add("turn.started", {{"turn", 1}}));
//
// Drivers decide what events hold and where else they go. If the journal cannot be written, a run
// that depends on it ends (kEnds: Start and Add fail); others go on (kTold): `failure` has the
// error, the journal is not tried again, and the watcher still sees events.
//
// Thread-safety: all methods from any thread. Events have one order, the same for the journal and
// the watcher. The watcher is called under the lock, so it must not add events.

#ifndef DOSSIER_DRIVER_RUN_LOG_H_
#define DOSSIER_DRIVER_RUN_LOG_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "store/journal.h"

namespace dossier::driver {

struct RunLogSetting {
  std::shared_ptr<store::Journal> journal;             // null: nothing is stored
  std::shared_ptr<const Clock> clock = SystemClock();  // for the events that the watcher sees
  // Called with each recorded event; Start or Add return its error. May be empty.
  std::function<Status(const store::Event& event)> watch;
  enum class Failure : std::uint8_t { kTold, kEnds } failure = Failure::kTold;
  // kLeftOut: texts are recorded as sizes and hashes only.
  enum class Bodies : std::uint8_t { kKept, kLeftOut } bodies = Bodies::kKept;
  // kAsKept: the watcher sees an event as the journal stores it: secrets removed, long texts stored
  // as bodies.
  enum class Seen : std::uint8_t { kAsGiven, kAsKept } seen = Seen::kAsGiven;
};

class RunLog {
 public:
  explicit RunLog(RunLogSetting setting) : setting_(std::move(setting)) {}

  // Errors: with kEnds those of Journal::StartRun; those of the watch.
  Status Start(JsonObject data);
  // Continues a run that already has `events` events.
  void Resume(std::string run, std::int64_t events = 0);
  // Errors: with kEnds those of Journal::Append; those of the watch.
  Status Add(std::string_view type, JsonObject data, std::int64_t call = 0);
  // Returns a text as the journal stores it: inline or by hash. Without a journal: its start.
  Json Body(std::string_view text);

  std::string run() const;               // "" if no run was started
  std::optional<Error> failure() const;  // why the journal is no longer written

 private:
  Status Record(std::string_view type, JsonObject data, std::int64_t call,
                const std::function<Status(const JsonObject& data)>& write);
  bool keeps() const { return setting_.journal && !failure_; }

  const RunLogSetting setting_;
  mutable std::mutex mutex_;  // guards the fields below and the order of events
  std::string run_;
  std::int64_t seq_ = 0;
  std::optional<Error> failure_;
};

}  // namespace dossier::driver

#endif  // DOSSIER_DRIVER_RUN_LOG_H_
