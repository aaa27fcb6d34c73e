// Shrinking one section to a grant of tokens.
//
//   part.full = *FitFull(part, context);
//   Measure({{&part.full}}, context);
//   if (auto cut = FitTo(part, /*grant=*/400, context)) Use(cut->text);
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASSEMBLY_FIT_FIT_H_
#define DOSSIER_ASSEMBLY_FIT_FIT_H_

#include <cstdint>
#include <optional>
#include <span>

#include "assembly/fit/part.h"
#include "tokens/counter/counter.h"

namespace dossier::assembly {

struct FitContext {
  const tokens::Counter& counter;
  std::int64_t per_message = 0;  // framing of a turn
  std::int64_t image = 0;        // tokens of an image
};

// All of `part`, cut by its cap_chars only; nullopt if those cannot hold even a cut. A text is not
// counted yet: see Measure.
std::optional<Fitted> FitFull(const Part& part, const FitContext& context);

// Counts texts, all at once, in a form that joins.
void Measure(std::span<Fitted* const> fitted, const FitContext& context);

// As much of `part` as costs at most `grant`, by its fit policy, marker and frame included; nullopt
// if not even the least fits. A result without `left_out` is uncut.
std::optional<Fitted> FitTo(const Part& part, std::int64_t grant, const FitContext& context);

// The least grant that is worth anything: `min`, else frame + marker + 1.
std::int64_t LeastGrant(const Part& part, const FitContext& context);

// "[left out: 7 of 10 lines of notes]"
std::string Marker(const CutCount& left_out, std::string_view name);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_FIT_H_
