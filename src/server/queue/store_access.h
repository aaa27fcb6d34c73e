// A server's access to the shared store: a bounded number of connections that many threads borrow,
// and one that listens for new events and wakes those who wait for them.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto store, StoreAccess::Open("postgresql:///dossier"));
//   DOSSIER_ASSIGN_OR_RETURN(const auto queue, store->Lend());
//   DOSSIER_ASSIGN_OR_RETURN(const store::QueuedRun row, queue->Get(run));
//
//   const auto news = store->NewsOf(run, stop);     // before what there is is read
//   …
//   (void)WaitUnlessCancelled(StoreAccess::kLookAgain, news->token());   // then read again
//
// Errors: those of the store. Thread-safety: all methods from any thread; a borrowed connection has
// one owner, and must be returned before this object is destroyed.

#ifndef DOSSIER_SERVER_QUEUE_STORE_ACCESS_H_
#define DOSSIER_SERVER_QUEUE_STORE_ACCESS_H_

#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "store/postgres/run_queue.h"

namespace dossier::server {

class StoreAccess {
 public:
  static constexpr Millis kLookAgain{5'000};  // poll interval, as notices may be lost

  // A borrowed connection, returned by the destructor.
  class Lent {
   public:
    Lent(StoreAccess& from, std::unique_ptr<store::RunQueue> queue)
        : from_(&from), queue_(std::move(queue)) {}
    Lent(Lent&&) = default;
    ~Lent() {
      if (queue_) from_->TakeBack(std::move(queue_));
    }
    store::RunQueue* operator->() const { return queue_.get(); }
    store::RunQueue& operator*() const { return *queue_; }

   private:
    StoreAccess* from_;
    std::unique_ptr<store::RunQueue> queue_;
  };

  // Creates missing tables.
  static Result<std::unique_ptr<StoreAccess>> Open(std::string address);
  ~StoreAccess();

  const std::string& address() const { return address_; }
  // Waits while all connections are lent.
  Result<Lent> Lend();
  // Its token is cancelled by new events or another state of the run, or with `parent`.
  std::shared_ptr<CancelSource> NewsOf(const std::string& run, const CancelToken& parent);

 private:
  StoreAccess(std::string address, std::unique_ptr<store::RunQueue> listens);
  void TakeBack(std::unique_ptr<store::RunQueue> queue);
  void Listen();
  void Tell(const std::vector<std::string>& runs);

  const std::string address_;
  const std::unique_ptr<store::RunQueue> listens_;  // used by the thread
  CancelSource ending_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable returned_;
  std::vector<std::unique_ptr<store::RunQueue>> idle_;
  std::size_t lent_ = 0;
  std::multimap<std::string, std::weak_ptr<CancelSource>> waiting_;  // by run
  std::thread thread_;                                               // last
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_QUEUE_STORE_ACCESS_H_
