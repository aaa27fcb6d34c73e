// Runs of a store that several machines share, for the commands below `runs`.
//
//   DOSSIER_RETURN_IF_ERROR(ListShared(store, 20, FailureForm::kText, out));
//   DOSSIER_ASSIGN_OR_RETURN(const FetchedRun fetched, FetchRun(store, "last"));
//   fetched.journal->Events(fetched.run);
//
// Errors: kUsage for an address that names no such store; those of the store. Thread-safety: none
// needed.

#ifndef DOSSIER_CLI_RUNS_RUNS_SHARED_H_
#define DOSSIER_CLI_RUNS_RUNS_SHARED_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

#include "base/files/file.h"
#include "base/result.h"
#include "cli/tree/command.h"
#include "store/journal.h"

namespace dossier::cli {

// `state`: "": all.
Status ListShared(const std::string& store, const std::string& state, std::size_t limit,
                  FailureForm form, std::ostream& out);

// What the queue says of a run.
struct SharedState {
  std::string state, owner, worker;
  std::string reason;  // why it waits or failed; "": nothing is known
  std::int64_t attempts = 0;

  std::string ToText() const;  // lines for a person, cleaned for a terminal
};
// A run as it is recorded so far, in a journal of its own that goes with the object.
struct FetchedRun {
  TempFolder folder;
  std::unique_ptr<store::Journal> journal;  // null: nothing is recorded yet
  std::string run;
  SharedState shared;
};
Result<FetchedRun> FetchRun(const std::string& store, const std::string& prefix);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RUNS_SHARED_H_
