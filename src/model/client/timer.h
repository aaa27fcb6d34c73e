// Runs tasks later, all on one thread, so that waiting does not cost a thread each.
//
//   auto timer = MakeThreadTimer(SystemClock());
//   std::uint64_t id = timer->At(clock->Now() + Millis(500), [] { Retry(); });
//   timer->Forget(id);
//
// Tasks must not block. Tasks with the same time run in order. The destructor waits for the thread,
// so no task may own the timer; code that cancels a request reaches it through a TimerLink.
// Thread-safety: all methods from any thread, also from a task.

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
  // Runs `task` at `when`, or at once if that is past, but never before this returns.
  virtual std::uint64_t At(Clock::Steady when, std::function<void()> task) = 0;
  // Prevents the task from starting; it may be running already.
  virtual void Forget(std::uint64_t id) = 0;

  // Runs a task as soon as possible.
  void Post(std::function<void()> task) { At(Clock::Steady::min(), std::move(task)); }
};

// A non-owning reference to a timer that may have ended. Thread-safety: all methods from any
// thread.
class TimerLink {
 public:
  explicit TimerLink(Timer& timer) : timer_(&timer) {}
  // Does nothing once the link is cut.
  void At(Clock::Steady when, std::function<void()> task) {
    std::lock_guard lock(mutex_);
    if (timer_) timer_->At(when, std::move(task));
  }
  void Post(std::function<void()> task) { At(Clock::Steady::min(), std::move(task)); }
  // The timer's owner calls this before the timer ends.
  void Cut() {
    std::lock_guard lock(mutex_);
    timer_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Timer* timer_;
};

// Uses one thread, started by the first task.
std::shared_ptr<Timer> MakeThreadTimer(std::shared_ptr<const Clock> clock);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CLIENT_TIMER_H_
