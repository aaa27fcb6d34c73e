// Reads the progress of an interrupted run from its journal, so that the run can continue.
//
//   const RunProgress progress = ReadProgress(events, journal);
//   const TaskProgress& task = progress.tasks.at("fact-001");
//   if (task.stage == TaskProgress::Stage::kPatchTaken) VerifyAndJudge(task.candidate);
//
// Thread-safety: pure, except that bodies are read from the journal's store.

#ifndef DOSSIER_AGENTS_RUN_PROGRESS_H_
#define DOSSIER_AGENTS_RUN_PROGRESS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agents/task/run_budget.h"
#include "agents/task/run_options.h"
#include "agents/task/task_status.h"
#include "sources/header/task.h"
#include "store/journal.h"

namespace dossier::agents {

struct TaskProgress {
  enum class Stage {
    kNotStarted,
    kAttempt,     // claimed, or the engineer worked or left no patch: the attempt is restarted
    kPatchTaken,  // next: policy, checks, review
    kReviewed,    // a review was under way: repeat it with a new token
    kApproved,    // next: merge
    kIntent,      // a merge was under way
    kMerged,      // the steps after a merge may be missing
    kFinished,
  };
  Stage stage = Stage::kNotStarted;
  std::int64_t attempt = 1;
  std::string feedback;                       // feedback that the attempt began with
  std::string base, candidate, patch_sha256;  // of the patch
  bool approved = false;                      // of that patch, whatever happened later
  std::string commit;                         // of the merge
  JsonObject result;                          // for kFinished: the result line
};

struct RunProgress {
  RunOptions options;
  std::string repository;  // the common git folder
  std::string ref, policy_sha256;
  std::vector<sources::Task> tasks;  // all that the run had
  std::map<std::string, TaskProgress, std::less<>> progress;
  bool finished = false;  // nothing is left to do
  SpentBefore spent;      // by all processes of the run
};

// Errors: kDamaged if these are not events of such a run.
Result<RunProgress> ReadProgress(const std::vector<store::Event>& events, store::Journal& journal);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_PROGRESS_H_
