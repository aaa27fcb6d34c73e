// The journal of a run that a worker has claimed: each event goes into the worker's own journal,
// which the engine replays from, and into the shared store, which counts.
//
//   EventWriter writer(address);                                   // one for all runs of a worker
//   auto lease = std::make_shared<Lease>(claim, until);
//   const auto journal = MakeSharedJournal(std::move(local), lease, writer, events_so_far);
//   engine.Resume({.run = claim.run}, request, lease->token(), sink);
//   lease->Lose("…");     // from any thread: nothing is sent or written any more
//
// Events are committed in groups, of 5 ms or 100. Before anything leaves this machine for one, and
// before a run is said to have ended, its event is committed: a request that was ever sent is known
// to whoever takes the run over. A lost database is waited for until the lease is over.
// Thread-safety: all methods from any thread.

#ifndef DOSSIER_STORE_POSTGRES_SHARED_JOURNAL_H_
#define DOSSIER_STORE_POSTGRES_SHARED_JOURNAL_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "store/journal.h"
#include "store/postgres/run_queue.h"

namespace dossier::store {

// A claim and how long it holds, as far as this machine can tell: its own clock only ever ends a
// lease earlier than the database does.
class Lease {
 public:
  Lease(Claim claim, Clock::Steady until) : claim_(std::move(claim)), until_(until) {}
  ~Lease();

  const Claim& claim() const { return claim_; }
  CancelToken token() const { return stop_.token(); }
  void Extend(Clock::Steady until);
  bool IsOver() const;
  // Once: later reasons are passed over. The token is cancelled when it returns; those who wait for
  // that are told on another thread, so that the caller may hold what they need.
  void Lose(const std::string& reason);
  // Stops the work, and keeps the lease: what was done is still written.
  void Stop(const std::string& reason) { stop_.Cancel(reason); }
  bool lost() const;
  Error error() const;  // kLeaseLost

 private:
  const Claim claim_;
  CancelSource stop_;
  mutable std::mutex mutex_;  // guards what follows
  Clock::Steady until_;
  std::optional<std::string> lost_;
  std::thread canceller_;
};

class EventWriter {
 public:
  explicit EventWriter(std::string address);
  ~EventWriter();  // what was not committed is left

  void Add(const std::shared_ptr<Lease>& lease, EventRow event, ContentStore& content);
  // Until all that was added for the lease is committed, or never will be: nothing of it is looked
  // at any more. Errors: kLeaseLost.
  Status Flush(const Lease& lease);

 private:
  struct Waiting {
    std::shared_ptr<Lease> lease;
    EventRow event;
    ContentStore* content;
  };
  void Work();
  void Write(std::vector<Waiting>& group);
  Status WriteOnce(std::vector<Waiting>& group);
  Status PutBodies(const std::vector<Waiting>& group);

  const std::string address_;
  std::unique_ptr<RunQueue> queue_;  // of the thread
  std::set<std::string> stored_;     // bodies; of the thread
  std::mutex mutex_;                 // guards what follows
  std::condition_variable changed_;
  std::vector<Waiting> waiting_;
  std::map<const Lease*, std::size_t> open_;  // events that are not committed yet
  bool hurry_ = false, ends_ = false;
  CancelSource ending_;
  std::thread thread_;
};

// `local` holds the `events` events of the run so far. The rest must outlive the journal.
std::unique_ptr<Journal> MakeSharedJournal(std::unique_ptr<Journal> local,
                                           std::shared_ptr<Lease> lease, EventWriter& writer,
                                           std::int64_t events);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_POSTGRES_SHARED_JOURNAL_H_
