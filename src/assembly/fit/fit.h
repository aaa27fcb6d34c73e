// Shrinks one section to a grant of tokens.
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

// Returns all of `part`, cut only by its cap_chars; nullopt if cap_chars is too small even for a
// cut text. A text is not counted yet: see Measure.
std::optional<Fitted> FitFull(const Part& part, const FitContext& context);

// Counts several texts at once, in a form whose counts can be joined.
void Measure(std::span<Fitted* const> fitted, const FitContext& context);

// Returns as much of `part` as costs at most `grant`, by its fit policy, including marker and
// frame; nullopt if not even the least fits. A result without `left_out` is uncut.
std::optional<Fitted> FitTo(const Part& part, std::int64_t grant, const FitContext& context);

// Returns the smallest useful grant: `min` if set, else frame + marker + 1.
std::int64_t LeastGrant(const Part& part, const FitContext& context);

// "[left out: 7 of 10 lines of notes]"
std::string Marker(const CutCount& left_out, std::string_view name);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_FIT_H_
