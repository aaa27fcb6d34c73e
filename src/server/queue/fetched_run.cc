#include "server/queue/fetched_run.h"

#include <utility>

#include "store/postgres/blobs.h"

namespace dossier::server {

Result<FetchedRun> FetchRun(store::RunQueue& queue, const std::string& run) {
  DOSSIER_ASSIGN_OR_RETURN(const auto events, queue.Events(run));
  DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make());
  if (events.empty()) return FetchedRun{std::move(folder), nullptr};
  store::JournalOptions options;
  options.make_id = [run] { return run; };
  DOSSIER_ASSIGN_OR_RETURN(auto journal, store::Journal::Open(folder.path(), std::move(options)));
  DOSSIER_RETURN_IF_ERROR(store::FetchBodiesOf(queue.connection(), events, journal->content()));
  DOSSIER_RETURN_IF_ERROR(journal->AddRun(events));
  return FetchedRun{std::move(folder), std::move(journal)};
}

}  // namespace dossier::server
