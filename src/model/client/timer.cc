#include "model/client/timer.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

namespace dossier::model {
namespace {

using Key = std::pair<Clock::Steady, std::uint64_t>;

class ThreadTimer final : public Timer {
 public:
  explicit ThreadTimer(std::shared_ptr<const Clock> clock) : clock_(std::move(clock)) {}

  ~ThreadTimer() override {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  std::uint64_t At(Clock::Steady when, std::function<void()> task) override {
    std::lock_guard lock(mutex_);
    const std::uint64_t id = next_id_++;
    const Key key{when, id};
    const bool wake = waiting_.empty() || key < waiting_.begin()->first;
    waiting_.emplace(key, std::move(task));
    times_.emplace(id, when);
    if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
    // Under the lock, because the owner may wait for this task before it ends the timer.
    if (wake) changed_.notify_one();
    return id;
  }

  void Forget(std::uint64_t id) override {
    std::function<void()> dropped;  // its captures must not be destroyed under the lock
    std::lock_guard lock(mutex_);
    const auto found = times_.find(id);
    if (found == times_.end()) return;
    const auto task = waiting_.find(Key{found->second, id});
    dropped = std::move(task->second);
    waiting_.erase(task);
    times_.erase(found);
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (waiting_.empty()) {
        changed_.wait(lock);
        continue;
      }
      const auto first = waiting_.begin();
      const auto [when, id] = first->first;
      if (when != Clock::Steady::min()) {
        if (const auto wait = when - clock_->Now(); wait.count() > 0) {
          changed_.wait_for(lock, std::min<Clock::Steady::duration>(wait, std::chrono::hours(1)));
          continue;
        }
      }
      std::function<void()> task = std::move(first->second);
      waiting_.erase(first);
      times_.erase(id);
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }

  const std::shared_ptr<const Clock> clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::uint64_t next_id_ = 1;
  std::map<Key, std::function<void()>> waiting_;
  std::unordered_map<std::uint64_t, Clock::Steady> times_;
  std::thread thread_;
};

}  // namespace

std::shared_ptr<Timer> MakeThreadTimer(std::shared_ptr<const Clock> clock) {
  return std::make_shared<ThreadTimer>(std::move(clock));
}

}  // namespace dossier::model
