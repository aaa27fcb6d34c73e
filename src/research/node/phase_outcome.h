// Stores the result of a node's phases in the journal, so that work finished by an earlier process
// is not repeated.
//
// Thread-safety: plain data; pure functions.

#ifndef DOSSIER_RESEARCH_NODE_PHASE_OUTCOME_H_
#define DOSSIER_RESEARCH_NODE_PHASE_OUTCOME_H_

#include "base/json/json.h"
#include "base/result.h"
#include "research/node/phases.h"

namespace dossier::research {

JsonObject OutcomeJson(const PhasesOutcome& outcome);
// ReadOutcome(OutcomeJson(o)) equals o. Errors: kDamaged naming the field.
Result<PhasesOutcome> ReadOutcome(const Json& json);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_PHASE_OUTCOME_H_
