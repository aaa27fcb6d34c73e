// Runs one review of one patch: a worktree of the candidate, the reviewer, its verdict.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ReviewOutcome review, Review(work, request, cancel));
//   if (review.verdict.kind == Verdict::Kind::kApproved) Merge();
//
// The reviewer's changes are deleted with its worktree. Thread-safety: a function; it blocks the
// caller.

#ifndef DOSSIER_AGENTS_TASK_REVIEW_H_
#define DOSSIER_AGENTS_TASK_REVIEW_H_

#include <string>

#include "agents/git/patch.h"
#include "agents/task/work.h"
#include "base/cancel.h"
#include "base/result.h"

namespace dossier::agents {

struct ReviewRequest {
  const sources::Task* task = nullptr;
  std::string task_name;  // usable as a file name
  std::int64_t attempt = 1;
  int worker = 1;
  const Patch* patch = nullptr;   // to be approved, with its file
  std::string commit;             // to check out: the candidate, or the merged tree's
  std::string folder;             // STATE/runs/<run>/<task>/<attempt>
  std::string name = "reviewer";  // of the files in it
  std::string checks;             // output of the checks
  std::string feedback;           // from the last attempt
};

struct ReviewOutcome {
  Verdict verdict;
  EngineOutcome engine;
  std::string token;
  std::vector<ForeignChange> foreign;  // changes in the git folder; if any, nothing is approved
};

// Errors: kTooLong (the patch does not fit the reviewer's model), and those of engines, git and the
// log.
Result<ReviewOutcome> Review(Work& work, const ReviewRequest& request, const CancelToken& cancel);

// Returns lines and files of a patch, for prompts.
std::vector<sources::FileStat> FileStats(const Patch& patch);
// Returns the text of `.agent/meta.json` and of the meta.json in STATE.
std::string MetaJson(const Work& work, const sources::Task& task, std::int64_t attempt,
                     const Patch& patch);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_REVIEW_H_
