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
#include <memory>
#include <ostream>
#include <string>

#include "base/files/file.h"
#include "base/result.h"
#include "cli/tree/command.h"
#include "store/journal.h"

namespace dossier::cli {

Status ListShared(const std::string& store, std::size_t limit, FailureForm form, std::ostream& out);

// A run as it is recorded so far, in a journal of its own that goes with the object.
struct FetchedRun {
  TempFolder folder;
  std::unique_ptr<store::Journal> journal;
  std::string run;
};
Result<FetchedRun> FetchRun(const std::string& store, const std::string& prefix);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RUNS_SHARED_H_
