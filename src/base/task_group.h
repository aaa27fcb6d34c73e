// A group of threads whose destructor waits until all of them have ended.
//
//   TaskGroup tasks;
//   if (!tasks.Run([&] { SlowWork(); })) return;   // the destructor waits for it
//
// For the few calls that block (a search over a large text); requests to models need no thread
// each. Thread-safety: Run from any thread; the destructor from the owner's, when nobody calls Run.

#ifndef DOSSIER_BASE_TASK_GROUP_H_
#define DOSSIER_BASE_TASK_GROUP_H_

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/result.h"

namespace dossier {

class TaskGroup {
 public:
  TaskGroup() = default;
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  ~TaskGroup() { Join(); }

  // Errors: kLimit if the system gives no more threads; `work` is not run then.
  Status Run(std::function<void()> work) {
    std::lock_guard lock(mutex_);
    DropFinished();
    auto done = std::make_shared<std::atomic<bool>>(false);
    try {
      threads_.push_back({std::thread([work = std::move(work), done] {
                            work();
                            done->store(true);
                          }),
                          done});
    } catch (const std::system_error& error) {
      return MakeError(ErrorCode::kLimit, "no thread for it: {}", error.code().message());
    }
    return {};
  }

  // Runs `work` in a thread, or in the caller's when the system gives no more threads.
  void RunOrDo(std::function<void()> work) {
    const auto shared = std::make_shared<std::function<void()>>(std::move(work));
    if (!Run([shared] { (*shared)(); })) (*shared)();
  }

  // Waits for all that were started.
  void Join() {
    std::vector<Task> threads;
    {
      std::lock_guard lock(mutex_);
      threads.swap(threads_);
    }
    for (Task& task : threads) task.thread.join();
  }

 private:
  struct Task {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> done;
  };

  void DropFinished() {
    std::erase_if(threads_, [](Task& task) {
      if (!task.done->load()) return false;
      task.thread.join();
      return true;
    });
  }

  std::mutex mutex_;
  std::vector<Task> threads_;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_TASK_GROUP_H_
