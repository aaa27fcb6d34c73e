// Computes what a run may still spend, counting what its earlier processes spent.
//
//   DOSSIER_ASSIGN_OR_RETURN(const RunSpend spent, SpendOf(*log));
//   model::Ledger ledger(LimitsLeft(config, spent, *clock), clock);
//
// Limits apply to the run as a whole, with all its resumes. Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_RUN_RUN_BUDGET_H_
#define DOSSIER_RESEARCH_RUN_RUN_BUDGET_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/json/json.h"
#include "model/client/ledger.h"
#include "research/setup/config.h"
#include "research/tree/node.h"
#include "research/tree/run_log.h"
#include "store/journal.h"

namespace dossier::research {

struct RunSpend {
  model::UsageSum usage;
  double seconds = 0;  // during which a process worked on the run
};

// The sum, over all processes that worked on the run, of the seconds from first to last event.
class WorkingTime {
 public:
  void See(std::string_view type, std::string_view time);
  double Seconds() const;

 private:
  std::string begun_, last_;  // times of events
  double before_ = 0;         // of earlier processes
};

RunSpend SpendOf(std::span<const store::Event> events);
// Returns the same for a log. Errors: those of its journal.
Result<RunSpend> SpendOf(const ResearchLog& log);

// Returns token_tracker.json: calls, tokens and cost per role, and their sum.
JsonObject TokenTracker(std::span<const store::Event> events);

model::LedgerLimits LimitsLeft(const RunConfig& config, const RunSpend& spent, const Clock& clock);

// Returns the limit that was reached, for a person: "cost: 1.0200 of 1.00 USD"; "": none.
std::string ReachedLimit(const RunConfig& config, const RunSpend& spent);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_RUN_BUDGET_H_
