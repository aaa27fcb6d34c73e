// The progress of an interrupted run, read from its journal so that the run can go on.
//
//   const RunProgress progress = ReadProgress(events, journal);
//   const TaskProgress& task = progress.tasks.at("fact-001");
//   if (task.stage == TaskProgress::Stage::kPatchTaken) VerifyAndJudge(task.candidate);
//
// Thread-safety: pure but for bodies that are read from the journal's store.

#ifndef DOSSIER_AGENTS_RUN_PROGRESS_H_
#define DOSSIER_AGENTS_RUN_PROGRESS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agents/task/run_options.h"
#include "agents/task/task_status.h"
#include "sources/header/task.h"
#include "store/journal.h"

namespace dossier::agents {

struct TaskProgress {
  enum class Stage {
    kNotStarted,
    kAttempt,     // claimed, or the engineer was at work or left no patch: the attempt starts again
    kPatchTaken,  // policy, checks, review
    kReviewed,    // a review was under way: a new one, with a new token
    kApproved,    // merge
    kIntent,      // a merge was under way
    kMerged,      // what follows a merge may be missing
    kFinished,
  };
  Stage stage = Stage::kNotStarted;
  std::int64_t attempt = 1;
  std::string feedback;                       // that the attempt started with
  std::string base, candidate, patch_sha256;  // of the patch
  bool approved = false;                      // that patch, whatever came afterwards
  std::string commit;                         // of the merge
  JsonObject result;                          // of kFinished: the result line
};

struct RunProgress {
  RunOptions options;
  std::string repository;  // the common git folder
  std::string ref, policy_sha256;
  std::vector<sources::Task> tasks;  // all that the run knew
  std::map<std::string, TaskProgress, std::less<>> progress;
  bool finished = false;  // nothing is left to do
};

// Errors: kDamaged if these are no events of such a run.
Result<RunProgress> ReadProgress(const std::vector<store::Event>& events, store::Journal& journal);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_PROGRESS_H_
