// Merges an approved patch: as one commit, or not at all.
//
//   MergeRequest request{.run = run, .task = "fact-001", .ref = "refs/heads/main",
//                        .base = patch.base, .candidate = patch.candidate,
//                        .patch_sha256 = patch.sha256, .policy = &policy};
//   DOSSIER_ASSIGN_OR_RETURN(MergeOutcome outcome, Merge(request, git, state, hooks));
//   if (outcome.status == MergeStatus::kReviewAgain) … review outcome.again, and merge that …
//
// Index, files and branch move together, protected by a record that the next start reads
// (recover.h). Other local changes, staged or not, are kept, and never become part of our commit.
//
// Thread-safety: a function; merges in all processes wait for each other.

#ifndef DOSSIER_AGENTS_MERGE_MERGE_H_
#define DOSSIER_AGENTS_MERGE_MERGE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/git/git.h"
#include "agents/git/git_dir_guard.h"
#include "agents/git/patch.h"
#include "agents/git/state_folder.h"
#include "agents/merge/intent.h"
#include "agents/policy/policy_check.h"
#include "base/clock.h"
#include "sources/header/agents_config.h"

namespace dossier::agents {

struct MergeRequest {
  std::string run;
  std::string task;       // the id
  std::string task_name;  // the id, as used in file and ref names; empty: `task`
  int attempt = 1;
  std::string ref;   // "refs/heads/main"
  std::string base;  // what was approved: the patch with this hash from base to candidate
  std::string candidate;
  std::string patch_sha256;

  const sources::ChangePolicy* policy = nullptr;  // not owned
  std::vector<std::string> targets;
  SteeringFiles control = DefaultControlFiles();
  // The tree that passed the checks: only this one is merged. Unset: any.
  std::optional<std::string> checked_tree;

  std::string note;         // for the ledger line; empty: none
  std::string ledger_root;  // the checkout whose agent_notes/ decides where the ledger is
  std::string folder;       // for the patch of a second review; empty: it is not kept
  Clock::Wall now;
  GitDirGuard* guard = nullptr;  // not owned
  Millis lock_wait{60'000};      // for another merge
  Millis index_wait{10'000};     // for another git's index.lock
};

// Callbacks by which the caller records progress; an error stops the merge at that point.
struct MergeHooks {
  // Called when the intent is durable and nothing has changed visibly yet.
  std::function<Status(const Intent&)> intent_written;
  // Called after the branch has moved. Recovery calls it again if the merge was killed after that.
  std::function<Status(const Intent&)> merged;
};

enum class MergeStatus : std::uint8_t {
  kMerged,
  kConflict,         // the patch does not apply to the tip: a new attempt is needed
  kReviewAgain,      // the tip changed a path of the patch: `again` must be reviewed
  kCheckAgain,       // the merged tree has not passed the checks: `again` must be checked
  kApplyFailed,      // local changes, an operation in progress, a held lock
  kCommitFailed,     // no identity, no signature
  kPolicyViolation,  // by the patch from the tip to the merged tree
};

struct MergeOutcome {
  MergeStatus status = MergeStatus::kApplyFailed;
  std::string reason;              // in words; empty if merged
  std::vector<std::string> paths;  // in conflict, or in the way
  std::string tip;                 // the branch tip that was found
  std::string commit;              // the new commit, if merged
  PolicyReport policy;
  Patch again;  // for kReviewAgain and kCheckAgain, with base = tip and a candidate
};

// Errors, after which nothing has moved: kNotFound (no such branch), kCheckFailed (the candidate is
// not what was approved), kLocked, kCancelled, kFailed (git), kIo. An error after the intent leaves
// it open for Recover, and says so. `cancel` is ignored after the intent.
Result<MergeOutcome> Merge(const MergeRequest& request, const Git& git, const StateFolder& state,
                           const MergeHooks& hooks, const CancelToken& cancel = {});

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_MERGE_MERGE_H_
