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

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "research/files/run_folder.h"
#include "research/node/driver.h"
#include "research/node/results.h"
#include "research/run/idea.h"
#include "research/run/run_budget.h"
#include "research/search/steering.h"
#include "store/journal.h"

namespace dossier::research {

// The entry of a run in the user's journal, through which `dossier runs` finds it: it says in which
// folder the run's own journal is, and how the run ended. If it cannot be written, the run goes on:
// `warn` says so once. Thread-safety: See may be called from any thread, one call at a time.
class RunListing {
 public:
  struct Options {
    std::string journal_folder;  // of the user's journal; "": the run is not listed
    std::string run_folder;      // absolute
    std::string title;
    std::shared_ptr<const Clock> clock;
    std::function<void(std::string_view)> warn;  // may be empty
  };
  explicit RunListing(Options options) : options_(std::move(options)) {}

  // Receives each recorded event of the run. While this object exists, the run counts as running.
  void See(const store::Event& event);

 private:
  Status Begin(const store::Event& event);
  Status End(const store::Event& event);

  const Options options_;
  std::unique_ptr<store::Journal> journal_;
};

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
