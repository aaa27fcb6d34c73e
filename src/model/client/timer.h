// Runs tasks later, all on one thread, so that waiting costs no thread each.
//
//   auto timer = MakeThreadTimer(SystemClock());
//   std::uint64_t id = timer->At(clock->Now() + Millis(500), [] { Retry(); });
//   timer->Forget(id);
//
// Tasks must not block. Tasks of the same time run in the order they were given. The destructor
// waits for the thread: no task owns the timer, and what cancels a request reaches it by a
// TimerLink. Thread-safety: all methods from any thread, also from a task.

#ifndef DOSSIER_MODEL_CLIENT_TIMER_H_
#define DOSSIER_MODEL_CLIENT_TIMER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "base/clock.h"

namespace dossier::model {

class Timer {
 public:
  virtual ~Timer() = default;  // tasks that are not due yet never run
  // Runs `task` at `when`; at once if that is past. Never runs it before it returns.
  virtual std::uint64_t At(Clock::Steady when, std::function<void()> task) = 0;
  // The task does not start any more; it may be running.
  virtual void Forget(std::uint64_t id) = 0;

  // As soon as possible.
  void Post(std::function<void()> task) { At(Clock::Steady::min(), std::move(task)); }
};

// A way to a timer that may have ended by then, without a share in it. Thread-safety: all methods
// from any thread.
class TimerLink {
 public:
  explicit TimerLink(Timer& timer) : timer_(&timer) {}
  // Nothing happens once the link is cut.
  void At(Clock::Steady when, std::function<void()> task) {
    std::lock_guard lock(mutex_);
    if (timer_) timer_->At(when, std::move(task));
  }
  void Post(std::function<void()> task) { At(Clock::Steady::min(), std::move(task)); }
  // The timer's owner calls it before the timer ends.
  void Cut() {
    std::lock_guard lock(mutex_);
    timer_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Timer* timer_;
};

// One thread, started by the first task.
std::shared_ptr<Timer> MakeThreadTimer(std::shared_ptr<const Clock> clock);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CLIENT_TIMER_H_
