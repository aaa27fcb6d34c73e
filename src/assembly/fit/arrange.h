// Arranges fitted parts as messages that the model accepts.
//
// Thread-safety: pure function.

#ifndef DOSSIER_ASSEMBLY_FIT_ARRANGE_H_
#define DOSSIER_ASSEMBLY_FIT_ARRANGE_H_

#include <span>
#include <string>
#include <vector>

#include "assembly/fit/part.h"

namespace dossier::assembly {

struct Arranged {
  Messages messages;
  std::vector<Repair> repairs;
  std::vector<int> turns;  // of each part: index of its first turn; -1 if it is in no turn
};

// `parts` must be in prompt order; absent ones are skipped. `lead` is the rendered lead template,
// or empty if the layout names none.
Arranged Arrange(std::span<const Part> parts, const Capability& capability, std::string_view lead);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_ARRANGE_H_
