// A queue that runs a bounded number of requests and lets a bounded number wait.
//
//   WorkQueue queue({.running = 8, .waiting = 64});
//   if (!queue.Submit([=] { Answer(*exchange); })) ReplyTooMany(*exchange);
//   queue.Drain(std::chrono::seconds(30));   // true: all of it has ended
//
// Thread-safety: Submit and the counts from any thread; Drain and the destructor from the owner's.
// Work must end by itself: whoever calls Drain cancels what is left.

#ifndef DOSSIER_SERVER_HTTP_WORK_QUEUE_H_
#define DOSSIER_SERVER_HTTP_WORK_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace dossier::server {

struct WorkLimits {
  std::size_t running = 8, waiting = 64;
};

class WorkQueue {
 public:
  explicit WorkQueue(WorkLimits limits);
  ~WorkQueue();  // accepts nothing new, waits for the rest

  // Returns false if both are full, the queue is draining, or the system has no thread for it.
  bool Submit(std::function<void()> work);
  // Accepts nothing new from now on and waits up to `most` for the rest.
  bool Drain(Millis most);

  bool full() const;  // Submit would return false
  bool draining() const;
  std::size_t running() const;
  std::size_t waiting() const;

 private:
  void Work();
  bool IsFull() const;  // needs the lock

  const WorkLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::size_t running_ = 0;
  bool draining_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_WORK_QUEUE_H_
