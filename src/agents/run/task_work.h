// Works on one task from its claim to its result: attempts, merge, record.
//
//   TaskWork work_on(work, task, {.worker = 2});
//   DOSSIER_ASSIGN_OR_RETURN(const TaskResult result, work_on.Run());
//
// Thread-safety: one owner, which Run blocks.

#ifndef DOSSIER_AGENTS_RUN_TASK_WORK_H_
#define DOSSIER_AGENTS_RUN_TASK_WORK_H_

#include <optional>
#include <string>

#include "agents/run/progress.h"
#include "agents/run/task_queue.h"
#include "agents/task/attempt.h"
#include "agents/task/task_result.h"
#include "agents/task/work.h"
#include "base/result.h"

namespace dossier::agents {

struct TaskStart {
  int worker = 1;
  std::int64_t run_started = 0;          // ms since 1970
  std::optional<TaskProgress> progress;  // for a resumed run
};

class TaskWork {
 public:
  TaskWork(Work& work, const sources::Task& task, TaskStart start);

  // Logs `task.finished`. Errors: those of git, the log and the disk: the run stops and can be
  // resumed.
  Result<TaskResult> Run();

 private:
  // Returns why the task is not worked on, if so.
  Result<std::optional<std::string>> Skipped();
  Result<std::string> MergedByLedger() const;
  Result<AttemptEnd> Attempts();
  Result<AttemptEnd> OneAttempt(const std::string& feedback);
  Result<AttemptEnd> GoOn(const TaskProgress& progress);
  Result<Patch> TakeUp(const TaskProgress& progress);
  Result<AttemptEnd> Merged(AttemptEnd approved);
  Result<AttemptEnd> OnBranch(AttemptEnd approved, const std::string& folder);
  Result<std::string> Tip() const;
  Status MakeWorktree();
  Status Refuse(const AttemptEnd& end);
  Status MoveFile(Queue queue);
  Status Finish();
  Result<std::string> Folder() const;
  AttemptPlace Place(const std::string& folder, const std::string& feedback) const;

  Work& work_;
  const sources::Task& task_;
  const TaskStart start_;
  const std::string name_;  // usable as a file name
  std::string file_;        // where the task's file is now
  TaskResult result_;
  std::int64_t attempt_ = 1;
  std::optional<Worktree> worktree_;
  // kRecorded: by the run that is resumed; the log holds an approval only once.
  enum class Approval { kNew, kRecorded } approval_ = Approval::kNew;
  const Clock::Steady begun_;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_TASK_WORK_H_
