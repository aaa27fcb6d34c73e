// Phase 0: the plan of a node.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Json plan, ParsePlan(payload));      // missing keys are empty
//   prefix.plan = PlanSection(plan);
//
// Thread-safety: pure functions, but for MakePlan.

#ifndef DOSSIER_RESEARCH_NODE_PHASE0_H_
#define DOSSIER_RESEARCH_NODE_PHASE0_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "research/node/phase_context.h"

namespace dossier::research {

// A bare plan, or {"plan": …}; the result is bare, with every key of 5.2. Errors: kInvalidArgument
// (no JSON object, none of the known keys, a known key of a wrong type).
Result<Json> ParsePlan(std::string_view payload);
// What later calls see of it.
Json PlanSection(const Json& plan);
// Of time_budget_estimate; 0: none.
std::int64_t EstimatedSeconds(const Json& plan);

// Asks for the plan, or takes it from the journal; its files are written. A failed call is the
// node's.
Status MakePlan(PhaseContext& context);

// The texts of a list in a plan; what is no text is left out.
std::vector<std::string> PlanTexts(const Json& plan, std::string_view key);
std::vector<std::string> PlanTexts(const Json& plan, std::string_view key, std::string_view inner,
                                   std::string_view list);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_PHASE0_H_
