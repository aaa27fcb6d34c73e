// Ends a merge that was killed: the first thing that each command that writes does.
//
//   DOSSIER_ASSIGN_OR_RETURN(const RecoveryReport report, Recover(git, state, hooks));
//   if (report.kind == RecoveryKind::kMerged) Note(report.task, report.commit);
//
// Thread-safety: a function; recoveries and merges wait for each other, in all processes.

#ifndef DOSSIER_AGENTS_MERGE_RECOVER_H_
#define DOSSIER_AGENTS_MERGE_RECOVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "agents/merge/merge.h"

namespace dossier::agents {

enum class RecoveryKind : std::uint8_t {
  kNothing,    // no merge was open
  kMerged,     // it is merged now, or was already
  kNotMerged,  // it cannot be: the branch is where it was, and so are index and files
};

struct RecoveryReport {
  RecoveryKind kind = RecoveryKind::kNothing;
  std::string run, task, commit;
  std::string reason;                // for kNotMerged
  std::vector<std::string> paths;    // for kNotMerged
  std::vector<std::string> rescued;  // copies of files that were of neither commit
};

// Errors: kFailed, naming both commits and what to do, if the branch went elsewhere: then nothing
// is touched; kLocked, if a git of the killed merge, or one in that checkout, still runs.
Result<RecoveryReport> Recover(const Git& git, const StateFolder& state, const MergeHooks& hooks,
                               const CancelToken& cancel = {}, Millis lock_wait = Millis(60'000));

// As Recover, for the holder of the merge lock.
Result<RecoveryReport> RecoverLocked(const Git& git, const StateFolder& state,
                                     const MergeHooks& hooks, const CancelToken& cancel);

// Whether `commit` is in `ref`. Errors: kFailed.
Result<bool> IsMerged(const Git& git, const std::string& ref, const std::string& commit,
                      const CancelToken& cancel = {});

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_MERGE_RECOVER_H_
