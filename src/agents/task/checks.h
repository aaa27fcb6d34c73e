// The checks of a repository over one candidate: what an engineer wrote runs here, so a check sees
// no more than the candidate and what its configuration names, in a worktree of its own: nothing
// that one check does to the files reaches the next one or the reviewer.
//
//   DOSSIER_ASSIGN_OR_RETURN(const CheckReport report, RunChecks(work, place, cancel));
//   if (report.failed) Feed(report.feedback);
//
// Thread-safety: a function; it blocks its caller.

#ifndef DOSSIER_AGENTS_TASK_CHECKS_H_
#define DOSSIER_AGENTS_TASK_CHECKS_H_

#include <string>

#include "agents/task/work.h"
#include "base/cancel.h"
#include "base/result.h"

namespace dossier::agents {

inline constexpr std::size_t kCheckFeedback = 4000;  // characters of a failing check

struct CheckPlace {
  std::string task;      // id, for the log
  std::string commit;    // the candidate
  std::string worktree;  // where each check finds it, made anew
  std::string folder;    // where output goes
};

struct CheckReport {
  std::string failed;    // the name of the first that failed; empty: none
  std::string reason;    // how that one ended
  std::string text;      // what all of them said, for the reviewer
  std::string feedback;  // of the one that failed
  bool stopped = false;  // cancelled, not failed
};

// Errors: kUnavailable (no confinement), kIo, those of git. A check that cannot start is one that
// failed.
Result<CheckReport> RunChecks(Work& work, const CheckPlace& place, const CancelToken& cancel);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_CHECKS_H_
