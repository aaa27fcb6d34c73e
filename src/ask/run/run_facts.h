// What the first event of a run says of its contexts, limits and everything else that can change
// what it does; and the check that a run that goes on still has the same contexts.
//
// Thread-safety: none needed; all read only.

#ifndef DOSSIER_ASK_RUN_RUN_FACTS_H_
#define DOSSIER_ASK_RUN_RUN_FACTS_H_

#include "ask/documents/context_set.h"
#include "ask/run/replay.h"
#include "ask/run/run_state.h"
#include "base/json/json.h"
#include "base/result.h"

namespace dossier::ask {

// With the hash where it is known without waiting. What has no path, or came from stdin, can be had
// again from the store alone: there the copy is waited for.
JsonArray DescribeContexts(const ContextSet& context);

// Code that runs again over other texts would say other things. Waits for copies. Errors: kDamaged:
// a context is gone, or is not what it was.
Status CheckSameContexts(const ContextSet& context, const Replay& replay);

// Money in US dollars, time in milliseconds; null: no limit.
JsonObject DescribeLimits(const RunState& run);

// Hash or build of everything that can change what a run does.
JsonObject MakeManifest(const RunState& run);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_RUN_FACTS_H_
