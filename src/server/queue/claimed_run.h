// A run that a worker has claimed, from its claim to its result.
//
//   ClaimedRun run(setting, lease);
//   run.Work(*queue);
//
// Thread-safety: one owner; meanwhile any thread may lose or stop the lease.

#ifndef DOSSIER_SERVER_QUEUE_CLAIMED_RUN_H_
#define DOSSIER_SERVER_QUEUE_CLAIMED_RUN_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/random.h"
#include "base/result.h"
#include "server/queue/queued_ask.h"
#include "server/workspace.h"
#include "store/postgres/run_queue.h"
#include "store/postgres/shared_journal.h"

namespace dossier::server {

// The settings that all runs of a worker share.
struct ClaimSetting {
  Workspace& workspace;
  store::EventWriter& writer;
  std::string cache_folder, version;
  std::function<void(std::string_view line)> say;
  // Called when a run is left to others: this model cannot be opened here, or the sandbox or cache
  // is broken here.
  std::function<void(const std::string& model)> lacks;
  std::function<void(const Error& error)> breaks;
};

// Makes the folder if needed, and tests that it is writable. Errors: kIo, kPermission, kNotFound,
// naming the folder.
Status CheckCache(const std::string& folder);

class ClaimedRun {
 public:
  ClaimedRun(const ClaimSetting& setting, std::shared_ptr<store::Lease> lease)
      : setting_(setting), lease_(std::move(lease)) {}
  ~ClaimedRun();  // removes the local journal of the run

  // Returns when the run is answered, given back or lost. `queue` is this thread's own. Invalid
  // data from the database fails only this run.
  void Work(store::RunQueue& queue);

 private:
  struct Loaded {
    QueuedAsk ask;
    std::vector<ask::ContextSource> sources;
    std::vector<store::Event> events;  // recorded by earlier workers
    std::unique_ptr<store::Journal> local;
  };
  Result<Loaded> Load(store::RunQueue& queue);
  Result<ask::Outcome> Answer(const Loaded& loaded, const std::shared_ptr<store::Journal>& journal);
  void Leave(store::RunQueue& queue, std::string_view lacking, const Error& error);
  struct Fault {
    std::string_view what;
    Error error;
  };
  std::optional<Fault> MachineFault(const Result<Loaded>& loaded,
                                    const Result<ask::Outcome>& outcome);
  bool EndAsRecorded(store::RunQueue& queue, const Loaded& loaded);
  void End(store::RunQueue& queue, const Result<ask::Outcome>& outcome);
  Status Patiently(const std::function<Status()>& step) const;

  const ClaimSetting& setting_;
  const std::shared_ptr<store::Lease> lease_;
  // Each claim has its own name: a journal left by an earlier claim on this machine may differ from
  // the store. It contains no text from the database.
  const std::string journal_name_ = RandomHex(16) + ".db";
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_QUEUE_CLAIMED_RUN_H_
