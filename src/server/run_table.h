// Asks as runs that outlive the call that began them: a call waits a while and leaves with the id,
// a later one takes the answer.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string run, workspace.runs().Start(asked, scope));
//   DOSSIER_ASSIGN_OR_RETURN(const Output output,
//                            workspace.runs().Wait(run, std::chrono::seconds(45), scope));
//   TextAt(output.structured, "status");   // "running", or "final"
//
// A finished run is answered from the journal, also after a restart and from another process. A
// call that is cancelled stops its run, which stays in the journal as interrupted.
// Errors of Start: kLimit where the sums do not suffice, with the estimate, before anything is
// sent; those of model, context and journal. Thread-safety: all methods from any thread.

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

// What an ask would take, from the least to the most that is likely.
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
  // The id, once the run is in the journal.
  Result<std::string> Start(const AskWish& wish, const CallScope& scope);
  // Errors: kNotFound (no such run), kCancelled, kRefused (another process's, over what the
  // workspace may not read).
  Result<Output> Wait(std::string_view run, std::chrono::milliseconds most, const CallScope& scope);
  // Whether it is running in this process and was told to stop.
  bool Cancel(std::string_view run, const std::string& reason);
  // Those begun in this process, newest last.
  std::vector<std::string> Known() const;
  // Called after each event of any run of this process, from its threads, with the run's id.
  using Watcher = std::function<void(std::string_view run)>;
  void Watch(Watcher watcher);

 private:
  class Live;

  // What a run may cost, in US dollars, of the server's day and of its caller's; unset: anything.
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
  std::set<std::string, std::less<>> begun_;  // here, those that live_ forgot too
  Watcher watcher_;
  TaskGroup tasks_;  // last: joined before the rest goes
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_RUN_TABLE_H_
