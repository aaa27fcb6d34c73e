// One run in the journal, and in front of whoever watches it: started once, then event by event.
//
//   RunLog log({.journal = journal, .watch = [](const store::Event& event) { … }});
//   DOSSIER_RETURN_IF_ERROR(log.Start({{"question", question}}));
//   DOSSIER_RETURN_IF_ERROR(log.Add("turn.started", {{"turn", 1}}));
//
// What an event holds, and where else it is written, is the driver's own. A journal that cannot be
// written ends a run that lives by it (kEnds: Start and Add fail), and no other (kTold: `failure`
// says so, it is not tried again, and the watch goes on).
//
// Thread-safety: all methods from any thread. Events have one order, the same for journal and
// watch; the watch is called with that order held, so it must not add events.

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
  std::shared_ptr<store::Journal> journal;             // null: nothing is kept
  std::shared_ptr<const Clock> clock = SystemClock();  // of the events that the watch sees
  // Sees each event once it is recorded. Its error is that of Start or Add. May be empty.
  std::function<Status(const store::Event& event)> watch;
  enum class Failure : std::uint8_t { kTold, kEnds } failure = Failure::kTold;
  // kLeftOut: of texts only sizes and hashes.
  enum class Bodies : std::uint8_t { kKept, kLeftOut } bodies = Bodies::kKept;
  // kAsKept: the watch sees an event as the journal keeps it, without secrets, long texts as
  // bodies.
  enum class Seen : std::uint8_t { kAsGiven, kAsKept } seen = Seen::kAsGiven;
};

class RunLog {
 public:
  explicit RunLog(RunLogSetting setting) : setting_(std::move(setting)) {}

  // Errors: with kEnds those of Journal::StartRun; those of the watch.
  Status Start(JsonObject data);
  // Goes on with a run that has `events` events.
  void Resume(std::string run, std::int64_t events = 0);
  // Errors: with kEnds those of Journal::Append; those of the watch.
  Status Add(std::string_view type, JsonObject data, std::int64_t call = 0);
  // A text as the journal holds it: inline, or stored by hash. Without a journal its start.
  Json Body(std::string_view text);

  std::string run() const;               // "": there is none
  std::optional<Error> failure() const;  // why the journal is not written any more

 private:
  Status Record(std::string_view type, JsonObject data, std::int64_t call,
                const std::function<Status(const JsonObject& data)>& write);
  bool keeps() const { return setting_.journal && !failure_; }

  const RunLogSetting setting_;
  mutable std::mutex mutex_;  // guards what follows, and the order of events
  std::string run_;
  std::int64_t seq_ = 0;
  std::optional<Error> failure_;
};

}  // namespace dossier::driver

#endif  // DOSSIER_DRIVER_RUN_LOG_H_
