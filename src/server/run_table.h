// Runs that outlive the call that started them: a call waits a while and returns the run's id, a
// later call gets the answer.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string run, workspace.runs().Start(asked, scope));
//   DOSSIER_ASSIGN_OR_RETURN(const Output output,
//                            workspace.runs().Wait(run, std::chrono::seconds(45), scope));
//   TextAt(output.structured, "status");   // "running", or "final"
//
// The answer of a finished run comes from the journal, also after a restart and from another
// process. Cancelling a call stops its run, which the journal keeps as interrupted. Errors of
// Start: kLimit if the budgets are too small, with the estimate and before anything is sent; those
// of model, context and journal. Thread-safety: all methods from any thread.

#ifndef DOSSIER_SERVER_RUN_TABLE_H_
#define DOSSIER_SERVER_RUN_TABLE_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/open_model.h"
#include "ask/engine.h"
#include "base/json/json.h"
#include "base/result.h"
#include "base/task_group.h"
#include "server/day_budget.h"
#include "server/operations.h"
#include "server/prepared_ask.h"

namespace dossier::server {

class Workspace;

// The estimated cost of an ask, from the minimum to the likely maximum.
struct AskEstimate {
  ask::Mode mode = ask::Mode::kDirect;
  std::string model;
  std::int64_t calls[2] = {}, tokens[2] = {};
  std::optional<double> usd[2] = {};  // unset: no price is known
  std::optional<double> left_today;

  JsonObject ToJson() const;
  std::string ToText() const;
};

class RunTable {
 public:
  explicit RunTable(Workspace& workspace);
  ~RunTable();  // stops all runs and waits for them

  Result<AskEstimate> Estimate(const AskWish& wish, const CancelToken& cancel);
  // Returns the id as soon as the run is in the journal.
  Result<std::string> Start(const AskWish& wish, const CallScope& scope);
  // Errors: kNotFound (no such run), kCancelled, kRefused (a run of another process over files that
  // the workspace may not read).
  Result<Output> Wait(std::string_view run, std::chrono::milliseconds most, const CallScope& scope);
  // Returns true if the run is running in this process and was told to stop.
  bool Cancel(std::string_view run, const std::string& reason);
  // Returns the runs begun in this process, newest last.
  std::vector<std::string> Known() const;
  // Called after each event of any run of this process, from its threads, with the run's id.
  using Watcher = std::function<void(std::string_view run)>;
  void Watch(Watcher watcher);

 private:
  class Live;

  // US dollars held for a run, from the server's and the caller's day; unset: no limit.
  struct HeldSums {
    std::optional<double> of_day, of_caller;
  };

  Result<PreparedAsk> Prepare(const AskWish& wish, const CancelToken& cancel,
                              app::ModelSettings::Use use);
  Result<AskEstimate> EstimateOf(const PreparedAsk& prepared, const CancelToken& cancel);
  Result<HeldSums> HoldSums(const AskWish& wish, const AskEstimate& estimate,
                            const CancelToken& cancel, PreparedAsk* prepared);
  std::shared_ptr<Live> Begin(PreparedAsk prepared, const HeldSums& held,
                              const std::optional<Purse>& purse);
  std::shared_ptr<Live> Find(std::string_view run) const;
  Result<Output> FromJournal(std::string_view run, std::chrono::milliseconds most,
                             const CallScope& scope);

  Workspace& workspace_;
  DayBudget budget_;
  mutable std::mutex mutex_;  // guards live_, begun_ and watcher_
  std::vector<std::shared_ptr<Live>> live_;
  std::set<std::string, std::less<>> begun_;  // in this process, including those dropped from live_
  Watcher watcher_;
  TaskGroup tasks_;  // last: joined before the rest is destroyed
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_RUN_TABLE_H_
