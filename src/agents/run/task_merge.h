// Merges an approved patch into the branch, and does what follows a merge.
//
//   DOSSIER_ASSIGN_OR_RETURN(end, MergeTask(work, place, std::move(approved), &result));
//   if (end.next == AttemptEnd::Next::kRetry) TryAgainOnTheNewTip();
//
// Thread-safety: functions; merges are serialised, within and across processes.

#ifndef DOSSIER_AGENTS_RUN_TASK_MERGE_H_
#define DOSSIER_AGENTS_RUN_TASK_MERGE_H_

#include <string>

#include "agents/run/run.h"
#include "agents/run/run_setup.h"
#include "agents/task/attempt.h"
#include "agents/task/task_result.h"
#include "agents/task/work.h"
#include "base/result.h"

namespace dossier::agents {

// kRetry: the branch moved, and a new attempt is needed. Errors: those of git, the log, the disk.
Result<AttemptEnd> MergeTask(Work& work, const AttemptPlace& place, AttemptEnd approved,
                             TaskResult* result);

// Returns why no patch of `task` could be merged, before an engine is paid for it: a target file
// has local changes in the branch's checkout. Empty if none has.
Result<std::string> LocalChanges(const Work& work, const sources::Task& task);

// Durably records that `patch` may be merged.
Status LogApproval(Work& work, const AttemptPlace& place, const Patch& patch);

// Completes a merge that an earlier process left open; every command that writes does this first.
// Errors: kFailed, naming both commits and the remedies, if the state of the merge is unclear.
Status RecoverFirst(const RunGround& ground, const RunPorts& ports);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_TASK_MERGE_H_
