// The result of a node's phases, as the journal keeps it: what an earlier process finished is not
// done again.
//
// Thread-safety: plain data; pure functions.

#ifndef DOSSIER_RESEARCH_NODE_PHASE_OUTCOME_H_
#define DOSSIER_RESEARCH_NODE_PHASE_OUTCOME_H_

#include "base/json/json.h"
#include "base/result.h"
#include "research/node/phases.h"

namespace dossier::research {

JsonObject OutcomeJson(const PhasesOutcome& outcome);
// ReadOutcome(OutcomeJson(o)) is o. Errors: kDamaged naming the field.
Result<PhasesOutcome> ReadOutcome(const Json& json);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_PHASE_OUTCOME_H_
