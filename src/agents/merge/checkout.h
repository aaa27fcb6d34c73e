// The work tree in which a branch is checked out, and what a merge does to it.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto checkouts, FindCheckouts(git, "refs/heads/main"));
//   DOSSIER_ASSIGN_OR_RETURN(const CheckoutRefusal refusal, WouldRefuse(git, state, move));
//   if (refusal) Report(refusal.reason, refusal.paths);      // nothing was touched
//   DOSSIER_ASSIGN_OR_RETURN(const CheckoutRefusal moved, MoveCheckout(git, move));
//
// Thread-safety: functions, for the holder of the merge lock.

#ifndef DOSSIER_AGENTS_MERGE_CHECKOUT_H_
#define DOSSIER_AGENTS_MERGE_CHECKOUT_H_

#include <string>
#include <string_view>
#include <vector>

#include "agents/git/git.h"
#include "agents/git/patch.h"
#include "agents/git/state_folder.h"
#include "agents/merge/intent.h"
#include "base/clock.h"

namespace dossier::agents {

// Why a checkout cannot be moved.
struct CheckoutRefusal {
  std::string reason;              // empty: nothing against it
  std::vector<std::string> paths;  // that it is about

  explicit operator bool() const { return !reason.empty(); }
};

// A checkout that goes from one commit to another.
struct CheckoutMove {
  Checkout checkout;
  std::string old_commit, new_commit;
  std::vector<PathChange> changes;  // between them
};

// The work trees that have `ref` checked out or are rebasing it. Errors: kIo.
Result<std::vector<Checkout>> FindCheckouts(const Git& git, std::string_view ref);

bool IsOn(const Checkout& checkout, std::string_view ref);

// Whether a merge, a rebase or their like is in progress there, with the way out.
CheckoutRefusal RefuseBusy(const Checkout& checkout);
// Whether `ref` can be merged into at all while `checkouts`, those that have it, are as they are.
CheckoutRefusal RefuseCheckouts(const std::vector<Checkout>& checkouts, std::string_view ref);

// Whether local changes or untracked files are in the way of the move, ignored files included,
// which git itself would overwrite. Changes nothing. Errors: kFailed, kIo, kCancelled.
Result<CheckoutRefusal> WouldRefuse(const Git& git, const StateFolder& state,
                                    const CheckoutMove& move, const CancelToken& cancel = {});

// Waits until no other git holds the index; returns a refusal after `limit`.
CheckoutRefusal WaitForIndex(const Checkout& checkout, Millis limit);

// Moves index and files. If it is refused, half of the files may have moved: call PutBack. Errors:
// kFailed, kIo.
Result<CheckoutRefusal> MoveCheckout(const Git& git, const CheckoutMove& move);

// Puts the paths of `move` in index and files to where they were at its old commit. What is neither
// of the old nor of the new commit is first copied to `rescue`; gives the paths of those copies.
// Errors: kFailed, kIo; then some paths may be as they were.
Result<std::vector<std::string>> PutBack(const Git& git, const CheckoutMove& move,
                                         const std::string& rescue);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_MERGE_CHECKOUT_H_
