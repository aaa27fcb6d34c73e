// Cutting a transcript: oldest units first, never half of one.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASSEMBLY_FIT_FIT_HISTORY_H_
#define DOSSIER_ASSEMBLY_FIT_FIT_HISTORY_H_

#include "assembly/fit/fit.h"
#include "assembly/fit/tally.h"

namespace dossier::assembly {

// The transcript that costs at most `grant`; nullopt if the turns that must stay cost more.
std::optional<Fitted> FitHistory(const Part& part, std::int64_t grant, const FitContext& context);

// Tokens of what must stay: summaries, the last keep.turns, a marker.
std::int64_t LeastHistory(const Part& part, const FitContext& context);

// Tokens of `turns` with their framing.
std::int64_t CountTurns(const std::vector<Turn>& turns, const FitContext& context);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_FIT_HISTORY_H_
