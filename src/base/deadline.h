// Cancels work when its time is up.
//
//   Deadline deadline(cancel, Millis(300'000), "time is up");
//   Work(deadline.token());
//   if (deadline.passed()) Report("timed-out");
//
// Ownership: one thread for as long as the object lives. Thread-safety: all methods from any
// thread.

#ifndef DOSSIER_BASE_DEADLINE_H_
#define DOSSIER_BASE_DEADLINE_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/cancel.h"
#include "base/clock.h"

namespace dossier {

// Returns a time limit in milliseconds, at most 1e9 seconds (31 years), so that a deadline made of
// it does not overflow the clock.
constexpr Millis LimitOfSeconds(double seconds) {
  constexpr double kMostSeconds = 1e9;
  return Millis(static_cast<std::int64_t>((seconds < kMostSeconds ? seconds : kMostSeconds) * 1e3));
}

class Deadline {
 public:
  // Without a limit only `parent` cancels the token.
  Deadline(const CancelToken& parent, std::optional<Millis> limit, std::string reason)
      : source_(parent) {
    if (!limit) return;
    end_ = std::chrono::steady_clock::now() + *limit;
    thread_ = std::thread([this, reason = std::move(reason)] {
      std::unique_lock lock(mutex_);
      if (ended_.wait_until(lock, *end_, [this] { return done_; })) return;
      lock.unlock();
      source_.Cancel(reason);
    });
  }
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    ended_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  CancelToken token() const { return source_.token(); }
  bool passed() const { return end_ && std::chrono::steady_clock::now() >= *end_; }
  // Ends the work now, for another reason than time.
  void Cancel(std::string reason) { source_.Cancel(std::move(reason)); }

 private:
  CancelSource source_;
  std::optional<std::chrono::steady_clock::time_point> end_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_DEADLINE_H_
