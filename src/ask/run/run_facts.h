// Describes in a run's first event its contexts, limits and all else that can affect what it does,
// and checks that a continued run still has the same contexts.
//
// Thread-safety: none needed; functions only read.

#ifndef DOSSIER_ASK_RUN_RUN_FACTS_H_
#define DOSSIER_ASK_RUN_RUN_FACTS_H_

#include <memory>
#include <set>
#include <string>

#include "ask/documents/context_set.h"
#include "ask/run/replay.h"
#include "ask/run/run_state.h"
#include "base/json/json.h"
#include "base/result.h"

namespace dossier::ask {

// Includes the hash if it is known without waiting. A context without a path, or from stdin, can
// only be read again from the store, so its copy is waited for.
JsonArray DescribeContexts(const ContextSet& context);

// Checks that a continued run has the same texts, since code would give other results on others.
// Waits for copies. Errors: kDamaged if a context is gone or has changed.
Status CheckSameContexts(const ContextSet& context, const Replay& replay);

// Loads the contexts of a recorded run: files that have changed since from their stored copies,
// whose names go to `changed`. Errors: as RecordedSources, LoadContext.
Result<std::shared_ptr<const ContextSet>> LoadRecorded(store::Journal& journal,
                                                       const std::string& run,
                                                       const ContextOptions& options,
                                                       const CancelToken& cancel,
                                                       std::set<std::string>* changed);

// US dollars for money, milliseconds for time; null: no limit.
JsonObject DescribeLimits(const RunState& run);

// Returns the hash or build of everything that can change what a run does.
JsonObject MakeManifest(const RunState& run);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_RUN_FACTS_H_
