// The visible part of a merge, from the intent to the ledger. Used by merges and by the recovery of
// a killed merge.
//
// Private to this module. Thread-safety: the caller must hold the merge lock.

#ifndef DOSSIER_AGENTS_MERGE_PUBLISH_H_
#define DOSSIER_AGENTS_MERGE_PUBLISH_H_

#include <functional>

#include "agents/merge/checkout.h"
#include "agents/merge/intent.h"
#include "agents/merge/merge.h"

namespace dossier::agents {

struct Publication {
  const Git& git;  // marked, so that its processes can be identified: MergeMark
  const StateFolder& state;
  const Intent& intent;
  const std::vector<PathChange>& changes;  // from the old commit to the new one
  Millis index_wait;
};

// Returns the environment variable that identifies the git processes of a killed merge.
std::string MergeMark(const Git& git);

CheckoutMove MoveOf(const Publication& publication);

// Checks whether the checkout can be moved. Changes nothing.
Result<CheckoutRefusal> CanPublish(const Publication& publication, const CancelToken& cancel);

// Moves branch, index and files, all or nothing: after a refusal or an error everything is as
// before, except what a person changed meanwhile, which stays and is named in the reason. If the
// roll-back failed too, the error says so and the intent must stay.
struct Published {
  CheckoutRefusal refusal;
  bool rolled_back = true;  // false: the intent must stay
};
Result<Published> Publish(const Publication& publication);

// After the move: calls `hooks.merged`, writes the ledger, closes the intent. May be repeated.
Status Finish(const Intent& intent, IntentLog& intents, const MergeHooks& hooks);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_MERGE_PUBLISH_H_
