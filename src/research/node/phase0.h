// Phase 0: makes the plan of a node.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Json plan, ParsePlan(payload));      // missing keys are empty
//   prefix.plan = PlanSection(plan);
//
// Thread-safety: pure functions, except MakePlan.

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

// Reads a plan, alone or as {"plan": …}. Returns the plan alone, with every known key. Errors:
// kInvalidArgument (not a JSON object, no known key, or a known key with a wrong type).
Result<Json> ParsePlan(std::string_view payload);
// Returns the parts of the plan that later calls are shown.
Json PlanSection(const Json& plan);
// Returns the plan's time_budget_estimate; 0 if it has none.
std::int64_t EstimatedSeconds(const Json& plan);

// Adds the section with what an earlier program did, unless `history` is null.
void AddHistory(Json history, std::string_view worker, CallRequest* request);

// Asks a model for the plan, or takes it from the journal, and writes its files. If the call fails,
// the node fails.
Status MakePlan(PhaseContext& context);

// Returns the texts of a list in a plan; other items are left out.
std::vector<std::string> PlanTexts(const Json& plan, std::string_view key, std::string_view inner,
                                   std::string_view list);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_PHASE0_H_
