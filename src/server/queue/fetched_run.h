// Copies what is recorded of a run in the shared store to a temporary journal, for readers that
// need a journal.
//
//   DOSSIER_ASSIGN_OR_RETURN(const FetchedRun fetched, FetchRun(*queue, run));
//   if (fetched.journal) Tell(*fetched.journal, run);
//
// Errors: those of the store; kIo for the temporary folder. Thread-safety: one owner.

#ifndef DOSSIER_SERVER_QUEUE_FETCHED_RUN_H_
#define DOSSIER_SERVER_QUEUE_FETCHED_RUN_H_

#include <memory>
#include <string>

#include "base/files/file.h"
#include "base/result.h"
#include "store/journal.h"
#include "store/postgres/run_queue.h"

namespace dossier::server {

struct FetchedRun {
  TempFolder folder;                        // removed with the object
  std::unique_ptr<store::Journal> journal;  // null: nothing is recorded yet
};

Result<FetchedRun> FetchRun(store::RunQueue& queue, const std::string& run);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_QUEUE_FETCHED_RUN_H_
