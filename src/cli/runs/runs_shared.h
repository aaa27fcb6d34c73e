// Access to runs in a store that several machines share, for the commands below `runs`.
//
//   DOSSIER_RETURN_IF_ERROR(ListShared(store, {.limit = 20}, FailureForm::kText, context));
//   DOSSIER_ASSIGN_OR_RETURN(const ShownRun shown, FetchRun(store, "last"));
//   shown.fetched.journal->Events(shown.run);
//
// Errors: kUsage for an address that is not a shared store; those of the store. Thread-safety: none
// needed.

#ifndef DOSSIER_CLI_RUNS_RUNS_SHARED_H_
#define DOSSIER_CLI_RUNS_RUNS_SHARED_H_

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/tree/command.h"
#include "server/queue/fetched_run.h"
#include "store/postgres/run_queue.h"

namespace dossier::cli {

Status ListShared(const std::string& store, const store::ListWish& wish, FailureForm form,
                  Context& context);

// The state of a run in the queue.
struct SharedState {
  std::string state, owner, worker;
  std::string reason;  // why it waits or failed; "": unknown
  std::int64_t attempts = 0;

  std::string ToText() const;  // lines for a person, safe for a terminal
};
struct ShownRun {
  server::FetchedRun fetched;
  std::string run;
  SharedState shared;
};
Result<ShownRun> FetchRun(const std::string& store, const std::string& prefix);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RUNS_SHARED_H_
