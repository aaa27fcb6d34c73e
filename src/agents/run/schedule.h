// Decides the order in which the tasks of a run start, and which tasks can never start.
//
//   DOSSIER_RETURN_IF_ERROR(sources::CheckDependencies(tasks, merged_before));
//   Schedule schedule(tasks, merged_before, /*left_out=*/{});
//   while (auto task = schedule.Take()) {
//     const bool merged = Work(*task);
//     for (const Blocked& one : schedule.Finish(*task, merged ? Ended::kMerged : Ended::kOther))
//       Report(one.task, "blocked", one.reason);
//   }
//
// A task starts when all its dependencies are merged. One that ends otherwise blocks all that
// depend on it. Thread-safety: one owner; workers share one under a lock.

#ifndef DOSSIER_AGENTS_RUN_SCHEDULE_H_
#define DOSSIER_AGENTS_RUN_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sources/header/task.h"

namespace dossier::agents {

// A task that can no longer start.
struct Blocked {
  std::size_t task;    // index in the tasks
  std::string reason;  // "fact-001, which it depends on, was not merged"
};

class Schedule {
 public:
  // Dependencies must be checked before. `merged`: ids that recorded runs merged; `left_out`: ids
  // that this run does not work on.
  Schedule(std::span<const sources::Task> tasks, const std::set<std::string>& merged,
           const std::set<std::string>& left_out);

  // Tasks blocked from the start: a dependency is left out of this run and not merged.
  const std::vector<Blocked>& blocked() const { return blocked_; }

  // Returns the first ready task by priority and id; unset if none is ready now.
  std::optional<std::size_t> Take();
  enum class Ended { kMerged, kOther };
  // Records the end of a taken task. Returns the tasks that it blocks, directly or through others.
  std::vector<Blocked> Finish(std::size_t task, Ended ended);
  // True if no task is waiting or taken: none will become ready.
  bool done() const { return waiting_ == 0 && taken_ == 0; }
  // Number of tasks that are ready or wait for others.
  std::size_t waiting() const { return waiting_; }

  // All tasks of the run in the order in which one worker would start them if all were merged.
  std::vector<std::size_t> Order() const;

 private:
  struct Node {
    std::vector<std::size_t> dependents;
    std::size_t open = 0;  // number of dependencies not merged yet
    enum class State { kWaiting, kTaken, kEnded, kLeftOut } state = State::kWaiting;
  };

  void Block(std::size_t cause, std::vector<Blocked>* out);

  std::vector<std::string> ids_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> by_rank_;
  std::vector<Blocked> blocked_;
  std::size_t waiting_ = 0, taken_ = 0;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_SCHEDULE_H_
