// The workers of a run: threads that take tasks in order until none is left.
//
//   Workers workers(schedule, {.count = 4, .work = work_on_one, .blocked = report});
//   workers.Run();                                  // returns when all have ended
//
// Thread-safety: Run once, from one thread.

#ifndef DOSSIER_AGENTS_RUN_WORKERS_H_
#define DOSSIER_AGENTS_RUN_WORKERS_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "agents/run/schedule.h"
#include "base/result.h"

namespace dossier::agents {

struct WorkerParts {
  std::int64_t count = 1;
  // Works on one task; `worker` counts from 1. After an error no more tasks are taken.
  std::function<Result<Schedule::Ended>(std::size_t task, int worker)> work;
  // Called for a task that can no longer start. Errors end the run, too.
  std::function<Status(const Blocked& one)> blocked;
  // Returns true if no more tasks should be taken: interrupted, or out of budget.
  std::function<bool()> stopped;
};

class Workers {
 public:
  Workers(Schedule& schedule, WorkerParts parts) : schedule_(schedule), parts_(std::move(parts)) {}

  // Returns the first error of any worker.
  Status Run();

 private:
  void Loop(int worker);
  std::optional<std::size_t> Next();
  void Done(std::size_t task, const Result<Schedule::Ended>& ended);
  Status Report(const std::vector<Blocked>& blocked);

  Schedule& schedule_;
  const WorkerParts parts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Status failed_;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_WORKERS_H_
