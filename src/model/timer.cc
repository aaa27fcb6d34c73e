#include "model/timer.h"

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

// Shared with the thread, which may outlive the timer by the task it is in.
struct Tasks {
  explicit Tasks(std::shared_ptr<const Clock> given) : clock(std::move(given)) {}

  const std::shared_ptr<const Clock> clock;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  std::uint64_t next_id = 1;
  std::map<Key, std::function<void()>> waiting;
  std::unordered_map<std::uint64_t, Clock::Steady> times;
};

void RunTasks(const std::shared_ptr<Tasks>& tasks) {
  std::unique_lock lock(tasks->mutex);
  while (!tasks->stopping) {
    if (tasks->waiting.empty()) {
      tasks->changed.wait(lock);
      continue;
    }
    const auto first = tasks->waiting.begin();
    const auto [when, id] = first->first;
    if (when != Clock::Steady::min()) {
      if (const auto wait = when - tasks->clock->Now(); wait.count() > 0) {
        tasks->changed.wait_for(lock,
                                std::min<Clock::Steady::duration>(wait, std::chrono::hours(1)));
        continue;
      }
    }
    std::function<void()> task = std::move(first->second);
    tasks->waiting.erase(first);
    tasks->times.erase(id);
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

class ThreadTimer final : public Timer {
 public:
  explicit ThreadTimer(std::shared_ptr<const Clock> clock)
      : tasks_(std::make_shared<Tasks>(std::move(clock))) {}

  ~ThreadTimer() override {
    {
      std::lock_guard lock(tasks_->mutex);
      tasks_->stopping = true;
    }
    tasks_->changed.notify_all();
    if (!thread_.joinable()) return;
    if (thread_.get_id() == std::this_thread::get_id()) {
      thread_.detach();  // its last owner was one of its own tasks
    } else {
      thread_.join();
    }
    // Tasks may own what owns them.
    std::map<Key, std::function<void()>> dropped;
    std::lock_guard lock(tasks_->mutex);
    dropped.swap(tasks_->waiting);
  }

  std::uint64_t At(Clock::Steady when, std::function<void()> task) override {
    const std::shared_ptr<Tasks> tasks = tasks_;  // the task may end this timer
    bool wake = false;
    std::uint64_t id = 0;
    {
      std::lock_guard lock(tasks->mutex);
      id = tasks->next_id++;
      const Key key{when, id};
      wake = tasks->waiting.empty() || key < tasks->waiting.begin()->first;
      tasks->waiting.emplace(key, std::move(task));
      tasks->times.emplace(id, when);
      if (!thread_.joinable()) thread_ = std::thread([tasks] { RunTasks(tasks); });
    }
    if (wake) tasks->changed.notify_one();
    return id;
  }

  void Forget(std::uint64_t id) override {
    std::function<void()> dropped;  // its captures must not end under the lock
    std::lock_guard lock(tasks_->mutex);
    const auto found = tasks_->times.find(id);
    if (found == tasks_->times.end()) return;
    const auto task = tasks_->waiting.find(Key{found->second, id});
    dropped = std::move(task->second);
    tasks_->waiting.erase(task);
    tasks_->times.erase(found);
  }

 private:
  const std::shared_ptr<Tasks> tasks_;
  std::thread thread_;
};

}  // namespace

std::shared_ptr<Timer> MakeThreadTimer(std::shared_ptr<const Clock> clock) {
  return std::make_shared<ThreadTimer>(std::move(clock));
}

}  // namespace dossier::model
