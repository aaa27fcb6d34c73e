// Moves the work tree in which a branch is checked out, as part of a merge.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto checkouts, FindCheckouts(git, "refs/heads/main"));
//   DOSSIER_ASSIGN_OR_RETURN(const CheckoutRefusal refusal, WouldRefuse(git, state, move));
//   if (refusal) Report(refusal.reason, refusal.paths);      // nothing was touched
//   DOSSIER_ASSIGN_OR_RETURN(const CheckoutRefusal moved, MoveCheckout(git, move));
//
// Thread-safety: functions; the caller must hold the merge lock.

#ifndef DOSSIER_AGENTS_MERGE_CHECKOUT_H_
#define DOSSIER_AGENTS_MERGE_CHECKOUT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/git/git.h"
#include "agents/git/patch.h"
#include "agents/git/state_folder.h"
#include "agents/merge/intent.h"
#include "base/clock.h"

namespace dossier::agents {

// The reason why a checkout cannot be moved.
struct CheckoutRefusal {
  std::string reason;              // empty: no refusal
  std::vector<std::string> paths;  // paths that the reason is about

  explicit operator bool() const { return !reason.empty(); }
};

// The move of a checkout from one commit to another.
struct CheckoutMove {
  Checkout checkout;
  std::string old_commit, new_commit;
  std::vector<PathChange> changes;  // between them
};

// Returns the work trees that have `ref` checked out or are rebasing it. Errors: kIo.
Result<std::vector<Checkout>> FindCheckouts(const Git& git, std::string_view ref);

bool IsOn(const Checkout& checkout, std::string_view ref);

// Refuses if a merge, rebase or similar operation is in progress there, with the remedy.
CheckoutRefusal RefuseBusy(const Checkout& checkout);
// Refuses if `ref` cannot be merged into while `checkouts`, those that have it, are in their state.
CheckoutRefusal RefuseCheckouts(const std::vector<Checkout>& checkouts, std::string_view ref);

// Refuses if local changes or untracked files are in the way of the move, including ignored files,
// which git itself would overwrite. Changes nothing. Errors: kFailed, kIo, kCancelled.
Result<CheckoutRefusal> WouldRefuse(const Git& git, const StateFolder& state,
                                    const CheckoutMove& move, const CancelToken& cancel = {});

// Waits until no other git process holds the index; returns a refusal after `limit`.
CheckoutRefusal WaitForIndex(const Checkout& checkout, Millis limit);

// Moves index and files. After a refusal, half of the files may have moved: call PutBack. Errors:
// kFailed, kIo.
Result<CheckoutRefusal> MoveCheckout(const Git& git, const CheckoutMove& move);

// Restores the paths of `move`, in index and files, to the old commit. Content that is neither the
// old nor the new commit's is first copied to `rescue`; returns the paths of the copies. If
// `rescue` is unset, such content and what is staged stays in its place, and its paths are
// returned. Errors: kFailed, kIo; then some paths may not be restored.
Result<std::vector<std::string>> PutBack(const Git& git, const CheckoutMove& move,
                                         const std::optional<std::string>& rescue);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_MERGE_CHECKOUT_H_
