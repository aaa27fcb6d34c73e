// Sets up a run before its first stage: its folder, journal, memory, machine and resources.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::unique_ptr<StartedRun> setup, SetUpRun(order, cancel));
//   RunStage(setup->driver, {.stage = 1}, &results, cancel);
//
// Start and resume take the same steps: what is in the journal is read from there. Errors: those of
// Run (run.h). Ownership: the setup owns what its driver points to, except the order.
//
// Thread-safety: one owner, the run's thread.

#ifndef DOSSIER_RESEARCH_RUN_RUN_SETUP_H_
#define DOSSIER_RESEARCH_RUN_RUN_SETUP_H_

#include <memory>
#include <optional>
#include <string>

#include "research/files/run_folder.h"
#include "research/node/driver.h"
#include "research/node/results.h"
#include "research/run/idea.h"
#include "research/run/run_budget.h"
#include "research/run/run_listing.h"
#include "research/search/steering.h"

namespace dossier::research {

struct StartedRun {
  RunConfig config;
  Idea idea;
  std::optional<RunLock> lock;
  std::unique_ptr<RunListing> listing;  // receives the events that `log` records
  std::unique_ptr<ResearchLog> log;
  std::shared_ptr<memory::Store> memory;  // null: --no-memory
  RunSpend spent;                         // by earlier processes
  std::unique_ptr<model::Ledger> ledger;
  std::unique_ptr<Steering> steering;
  std::unique_ptr<RoleCaller> caller;
  Driver driver;
  bool goes_on = false;  // a resume that was accepted

  RunResults Results() const;  // without findings yet
};

Result<std::unique_ptr<StartedRun>> SetUpRun(const RunOrder& order, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_RUN_SETUP_H_
