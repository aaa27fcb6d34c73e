// One attempt at one task, up to an approved patch: engineer, patch, policy, checks, review.
//
//   Attempt attempt(work, {.task = &task, .attempt = 1, .worker = 2}, &worktree, &result);
//   DOSSIER_ASSIGN_OR_RETURN(const AttemptEnd end, attempt.Run());
//   if (end.next == AttemptEnd::Next::kMerge) Merge(end.patch);
//
// Thread-safety: one owner, which it blocks.

#ifndef DOSSIER_AGENTS_TASK_ATTEMPT_H_
#define DOSSIER_AGENTS_TASK_ATTEMPT_H_

#include <optional>
#include <string>

#include "agents/git/patch.h"
#include "agents/git/worktree.h"
#include "agents/task/review.h"
#include "agents/task/task_result.h"
#include "agents/task/work.h"
#include "base/result.h"

namespace dossier::agents {

struct AttemptPlace {
  const sources::Task* task = nullptr;
  std::string task_name;  // as a file name
  std::int64_t attempt = 1;
  int worker = 1;
  std::string folder;    // STATE/runs/<run>/<task>/<attempt>
  std::string feedback;  // of the last attempt
};

struct AttemptEnd {
  enum class Next {
    kMerge,  // approved
    kRetry,  // another attempt may do better
    kEnd,    // no other attempt would
  } next = Next::kEnd;
  TaskStatus status = TaskStatus::kEngineFailed;  // if no further attempt is made
  std::string reason, feedback;
  std::optional<Patch> patch;  // if one was taken
  std::string checks;          // what they said
};

class Attempt {
 public:
  // `result` gets what is learned on the way.
  Attempt(Work& work, AttemptPlace place, TaskResult* result)
      : work_(work), place_(std::move(place)), result_(*result) {}

  // From the start, in `worktree`. Errors: those of git, the log and the disk: the run stops.
  Result<AttemptEnd> Run(const Worktree& worktree);
  // From a patch that was taken before.
  Result<AttemptEnd> Judge(Patch patch);
  // What the checks say of a patch; kMerge if all passed, or there are none.
  Result<AttemptEnd> Checked(Patch patch);
  // What a review makes of the patch of `so_far`; `name` is that of its files. Also for what a
  // merge made of the patch.
  Result<ReviewOutcome> AskReviewer(const std::string& name, const AttemptEnd& so_far);
  Result<AttemptEnd> Reviewed(const std::string& name, AttemptEnd so_far);

 private:
  Result<EngineOutcome> Engineer(const Worktree& worktree);
  Result<AttemptEnd> AfterEngineer(const EngineOutcome& outcome, const Worktree& worktree);
  Result<Patch> Take(const Worktree& worktree);
  AttemptEnd Refused(const std::vector<Violation>& violations, Patch patch);
  // Why the work was stopped from outside, if it was.
  std::optional<AttemptEnd> Stopped() const;
  void Count(const EngineOutcome& outcome);

  Work& work_;
  const AttemptPlace place_;
  TaskResult& result_;
  std::vector<std::string> foreign_;  // changes in the git folder
};

// Every rule that `patch` breaks, and what taking it found.
std::vector<Violation> JudgePatch(const Work& work, const sources::Task& task, const Patch& patch);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_ATTEMPT_H_
