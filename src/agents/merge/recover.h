// Completes or undoes a merge that was killed; every command that writes does this first.
//
//   DOSSIER_ASSIGN_OR_RETURN(const RecoveryReport report, Recover(git, state, hooks));
//   if (report.kind == RecoveryKind::kMerged) Note(report.task, report.commit);
//
// Thread-safety: a function; recoveries and merges in all processes wait for each other.

#ifndef DOSSIER_AGENTS_MERGE_RECOVER_H_
#define DOSSIER_AGENTS_MERGE_RECOVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "agents/merge/merge.h"

namespace dossier::agents {

enum class RecoveryKind : std::uint8_t {
  kNothing,    // no merge was open
  kMerged,     // it is merged now, or was before
  kNotMerged,  // it cannot be: branch, index and files are as before
};

struct RecoveryReport {
  RecoveryKind kind = RecoveryKind::kNothing;
  std::string run, task, commit;
  std::string reason;                // for kNotMerged
  std::vector<std::string> paths;    // for kNotMerged
  std::vector<std::string> rescued;  // copies of files that belonged to neither commit
};

// Errors: kFailed, naming both commits and the remedy, if the branch points elsewhere: then nothing
// is touched; kLocked if a git process of the killed merge, or one in that checkout, still runs.
Result<RecoveryReport> Recover(const Git& git, const StateFolder& state, const MergeHooks& hooks,
                               const CancelToken& cancel = {}, Millis lock_wait = Millis(60'000));

// As Recover, for a caller that holds the merge lock.
Result<RecoveryReport> RecoverLocked(const Git& git, const StateFolder& state,
                                     const MergeHooks& hooks, const CancelToken& cancel);

// Returns true if `ref` contains `commit`. Errors: kFailed.
Result<bool> IsMerged(const Git& git, const std::string& ref, const std::string& commit,
                      const CancelToken& cancel = {});

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_MERGE_RECOVER_H_
