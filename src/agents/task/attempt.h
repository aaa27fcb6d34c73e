// Makes one attempt at one task, up to an approved patch: engineer, patch, policy, checks, review.
//
//   Attempt attempt(work, {.task = &task, .attempt = 1, .worker = 2}, &worktree, &result);
//   DOSSIER_ASSIGN_OR_RETURN(const AttemptEnd end, attempt.Run());
//   if (end.next == AttemptEnd::Next::kMerge) Merge(end.patch);
//
// Thread-safety: one owner, which its methods block.

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
  std::string task_name;  // usable as a file name
  std::int64_t attempt = 1;
  int worker = 1;
  std::string folder;    // STATE/runs/<run>/<task>/<attempt>
  std::string feedback;  // from the previous attempt
};

struct AttemptEnd {
  enum class Next {
    kMerge,  // approved
    kRetry,  // another attempt may succeed
    kEnd,    // no further attempt would succeed
  } next = Next::kEnd;
  TaskStatus status = TaskStatus::kEngineFailed;  // if no further attempt is made
  std::string reason, feedback;
  std::optional<Patch> patch;  // if one was taken
  std::string checks;          // output of the checks
};

class Attempt {
 public:
  // `result` receives what is learned during the attempt.
  Attempt(Work& work, AttemptPlace place, TaskResult* result)
      : work_(work), place_(std::move(place)), result_(*result) {}

  // Starts anew, in `worktree`. Errors: those of git, the log and the disk: the run stops.
  Result<AttemptEnd> Run(const Worktree& worktree);
  // Starts from a patch that was taken before.
  Result<AttemptEnd> Judge(Patch patch);
  // Runs the checks on a patch; kMerge if all passed, or there are none.
  Result<AttemptEnd> Checked(Patch patch);
  // Reviews the patch of `so_far`; `name` is used for the review's files. Also used for the merged
  // form of a patch.
  Result<ReviewOutcome> AskReviewer(const std::string& name, const AttemptEnd& so_far);
  Result<AttemptEnd> Reviewed(const std::string& name, AttemptEnd so_far);

 private:
  Result<EngineOutcome> Engineer(const Worktree& worktree);
  Result<AttemptEnd> AfterEngineer(const EngineOutcome& outcome, const Worktree& worktree);
  Result<Patch> Take(const Worktree& worktree);
  AttemptEnd Refused(const std::vector<Violation>& violations, Patch patch);
  // Returns why the work was stopped from outside, if it was.
  std::optional<AttemptEnd> Stopped() const;
  void Count(const EngineOutcome& outcome);

  Work& work_;
  const AttemptPlace place_;
  TaskResult& result_;
  std::vector<ForeignChange> foreign_;  // changes in the git folder
};

// Returns all rules that `patch` violates, including what was found while taking it.
std::vector<Violation> JudgePatch(const Work& work, const sources::Task& task, const Patch& patch);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_ATTEMPT_H_
