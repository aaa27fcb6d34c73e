// The journal of a run that a worker has claimed: each event goes into the worker's own journal,
// from which the engine replays, and into the shared store, which is authoritative.
//
//   EventWriter writer(address);                                   // one for all runs of a worker
//   auto lease = std::make_shared<Lease>(claim, until);
//   const auto journal = MakeSharedJournal(std::move(local), lease, writer, events_so_far);
//   engine.Resume({.run = claim.run}, request, lease->token(), sink);
//   lease->Lose("…");     // from any thread: nothing is sent or written any more
//
// Events are committed in groups of 5 ms or 100 events. An event is committed before anything that
// follows from it leaves this machine, and before the run is reported as ended: so a worker that
// takes the run over knows every request that was ever sent. A lost database is waited for until
// the lease is over. Thread-safety: all methods from any thread.

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

// A claim and its lease time as far as this machine knows: its clock only ever ends a lease earlier
// than the database does.
class Lease {
 public:
  Lease(Claim claim, Clock::Steady until) : claim_(std::move(claim)), until_(until) {}
  ~Lease();

  const Claim& claim() const { return claim_; }
  CancelToken token() const { return stop_.token(); }
  void Extend(Clock::Steady until);
  bool IsOver() const;
  // Only the first reason counts. The token is cancelled when this returns; its callbacks run on
  // another thread, so that the caller may hold locks that they need.
  void Lose(const std::string& reason);
  // Stops the work and keeps the lease: finished work is still written.
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
  ~EventWriter();  // drops uncommitted events

  void Add(const std::shared_ptr<Lease>& lease, EventRow event, ContentStore& content);
  // Waits until all events of the lease are committed or never will be; then they are no longer
  // accessed. Errors: kLeaseLost.
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
  std::unique_ptr<RunQueue> queue_;  // used by the thread
  std::set<std::string> stored_;     // bodies; used by the thread
  std::mutex mutex_;                 // guards what follows
  std::condition_variable changed_;
  std::vector<Waiting> waiting_;
  std::map<const Lease*, std::size_t> open_;  // number of uncommitted events
  bool hurry_ = false, ends_ = false;
  CancelSource ending_;
  std::thread thread_;
};

// `local` has the first `events` events of the run. The other arguments must outlive the journal.
std::unique_ptr<Journal> MakeSharedJournal(std::unique_ptr<Journal> local,
                                           std::shared_ptr<Lease> lease, EventWriter& writer,
                                           std::int64_t events);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_POSTGRES_SHARED_JOURNAL_H_
