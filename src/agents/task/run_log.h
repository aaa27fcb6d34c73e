// Records one run: every event goes to the journal, and as a line to the run's log file.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto log, AgentLog::Start(places, {{"question", "4 tasks"}}));
//   DOSSIER_RETURN_IF_ERROR(log->Add("task.claimed", "fact-001", {{"attempt", 1}}));
//
// The journal is authoritative; a torn or lost file is rebuilt from it. Both are synced before Add
// returns for the events that a resume must not lose: patch.taken approval.accepted merge.intent
// merge.done task.finished, and run.started.
//
// Secrets are removed from every text: those with a known shape, and the values that engines were
// given.
//
// Thread-safety: all methods from any thread; events have one order. One AgentLog per run.

#ifndef DOSSIER_AGENTS_TASK_RUN_LOG_H_
#define DOSSIER_AGENTS_TASK_RUN_LOG_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/git/secret_values.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "base/result.h"
#include "driver/run_log.h"
#include "store/journal.h"

namespace dossier::agents {

struct RunLogPlaces {
  std::string runs_folder;     // for the log files
  std::string journal_folder;  // for the user's journal
  std::shared_ptr<const Clock> clock;
  SecretValues secrets;
  // Receives each event after it is recorded, in order; for a view. May be empty.
  std::function<void(const store::Event&)> watch;
};

class AgentLog {
 public:
  // Starts a new run: "run-20260117-100000-3fa2c1", in UTC. Errors: kIo with path and bytes (the
  // disk is full), kPermission, kConfig (a journal on a network file system).
  static Result<std::unique_ptr<AgentLog>> Start(RunLogPlaces places, JsonObject data);
  // Continues `run`, after repairing its file. `events` receives the existing ones. Errors: also
  // kNotFound.
  static Result<std::unique_ptr<AgentLog>> Reopen(RunLogPlaces places, std::string_view run,
                                                  std::vector<store::Event>* events);

  // `task` may be empty. Errors: kIo with path and bytes; the run must stop.
  Status Add(std::string_view event, std::string_view task, JsonObject data);

  const std::string& run() const { return run_; }
  const std::string& path() const { return path_; }
  const RunLogPlaces& places() const { return places_; }
  store::Journal& journal() { return *journal_; }

 private:
  // Gives the journal the same time as the line.
  class StampClock;

  AgentLog(RunLogPlaces places, std::shared_ptr<StampClock> stamp)
      : places_(std::move(places)), stamp_(std::move(stamp)) {}

  void Open(std::unique_ptr<store::Journal> journal);
  JsonObject WithoutSecrets(JsonObject data) const;
  Status WriteLine(const store::Event& event);

  const RunLogPlaces places_;
  const std::shared_ptr<StampClock> stamp_;
  std::shared_ptr<store::Journal> journal_;
  std::optional<driver::RunLog> log_;
  std::mutex mutex_;  // keeps an event and its time stamp together
  std::string run_, path_;
  UniqueFd file_;
};

// Writes the log of `run` from the journal to `path`, unless the file is complete. Returns whether
// it was written. Errors: kIo, kNotFound (no such run).
Result<bool> RepairLog(store::Journal& journal, std::string_view run, const std::string& path);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_RUN_LOG_H_
