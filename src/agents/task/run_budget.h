// Enforces the limits of a whole run in time, tokens and money.
//
//   RunBudget budget({.seconds = 3600}, cancel, clock);
//   engine.Run(job, budget.token());              // stopped when the budget is used up
//   if (auto what = budget.used_up()) End("budget", *what);
//
// Thread-safety: all methods from any thread.

#ifndef DOSSIER_AGENTS_TASK_RUN_BUDGET_H_
#define DOSSIER_AGENTS_TASK_RUN_BUDGET_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agents/task/run_options.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "model/client/ledger.h"

namespace dossier::agents {

// What a run used before it was interrupted.
struct SpentBefore {
  model::Usage usage;
  double seconds = 0;  // while a process worked on it
};

class RunBudget {
 public:
  RunBudget(const RunOptions& options, const CancelToken& parent,
            std::shared_ptr<const Clock> clock, const SpentBefore& before = {});

  // The token for engines: cancelled when `parent` is, or when the budget is used up.
  CancelToken token() const { return deadline_.token(); }
  model::Ledger& ledger() { return ledger_; }
  // Must be called after each reply of a model.
  void Spent();
  // Called if a program does not report its usage, or reports unusable values: if that measure is
  // limited, the run ends as if the limit were reached. `why` is a sentence.
  enum class Measure : std::uint8_t { kCost, kTokens };
  void CannotMeasure(Measure what, const std::string& why);
  // Returns the limit that was reached, as a sentence; unset if none was.
  std::optional<std::string> used_up() const;

 private:
  const std::optional<double> seconds_;
  const model::LedgerLimits limits_;
  model::Ledger ledger_;
  mutable std::mutex mutex_;
  std::string unmeasured_;  // the first sentence
  Deadline deadline_;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_RUN_BUDGET_H_
