// Merges an approved patch: as one commit, or not at all.
//
//   MergeRequest request{.run = run, .task = "fact-001", .ref = "refs/heads/main",
//                        .base = patch.base, .candidate = patch.candidate,
//                        .patch_sha256 = patch.sha256, .policy = &policy};
//   DOSSIER_ASSIGN_OR_RETURN(MergeOutcome outcome, Merge(request, git, state, hooks));
//   if (outcome.status == MergeStatus::kReviewAgain) … review outcome.again, and merge that …
//
// Index, files and branch move together, under a record that the next start reads (recover.h).
// Other local changes, staged or not, stay, and are in no commit of ours.
//
// Thread-safety: a function; merges wait for each other, in all processes.

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
  std::string task_name;  // the id for files and refs; empty: `task`
  int attempt = 1;
  std::string ref;   // "refs/heads/main"
  std::string base;  // what was approved: the patch from base to candidate, of this hash
  std::string candidate;
  std::string patch_sha256;

  const sources::ChangePolicy* policy = nullptr;  // not owned
  std::vector<std::string> targets;
  SteeringFiles control = DefaultControlFiles();
  // The tree that the checks passed on: no other is merged. Unset: any.
  std::optional<std::string> checked_tree;

  std::string note;         // of the ledger line; empty: none
  std::string ledger_root;  // the checkout whose agent_notes/ decides where the ledger is
  std::string folder;       // for the patch of a second review; empty: it is kept nowhere
  Clock::Wall now;
  GitDirGuard* guard = nullptr;  // not owned
  Millis lock_wait{60'000};      // for another merge
  Millis index_wait{10'000};     // for another git's index.lock
};

// What the caller records on the way; an error stops the merge where it is.
struct MergeHooks {
  // Called when the intent is durable and nothing is visible yet.
  std::function<Status(const Intent&)> intent_written;
  // Called when the branch has moved. A recovery calls it again if the merge was killed after that.
  std::function<Status(const Intent&)> merged;
};

enum class MergeStatus : std::uint8_t {
  kMerged,
  kConflict,         // the patch does not fit on the tip: a new attempt
  kReviewAgain,      // the tip changed a path of the patch: `again` is what to review
  kCheckAgain,       // no check has passed on the merged tree: `again` is what to check
  kApplyFailed,      // local changes, an operation in progress, a held lock
  kCommitFailed,     // no identity, no signature
  kPolicyViolation,  // of the patch from the tip to the merged tree
};
std::string_view MergeStatusName(MergeStatus status);  // "merged", "apply-failed", …

struct MergeOutcome {
  MergeStatus status = MergeStatus::kApplyFailed;
  std::string reason;              // in words; empty if merged
  std::vector<std::string> paths;  // in conflict, or in the way
  std::string tip;                 // of the branch, as it was found
  std::string commit;              // that was made; if merged
  PolicyReport policy;
  Patch again;  // for kReviewAgain and kCheckAgain, with base = tip and a candidate
};

// Errors, after which nothing has moved: kNotFound (no such branch), kCheckFailed (the candidate is
// not what was approved), kLocked, kCancelled, kFailed (git), kIo. An error after the intent leaves
// it open for Recover, and says so. `cancel` counts until the intent.
Result<MergeOutcome> Merge(const MergeRequest& request, const Git& git, const StateFolder& state,
                           const MergeHooks& hooks, const CancelToken& cancel = {});

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_MERGE_MERGE_H_
