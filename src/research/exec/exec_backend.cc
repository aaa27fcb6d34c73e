#include "research/exec/exec_backend.h"

namespace dossier::research {

std::string_view PhaseName(Phase phase) {
  constexpr std::string_view kNames[kPhases] = {"phase0", "phase1", "phase2", "phase3", "phase4"};
  return kNames[static_cast<std::size_t>(phase)];
}

}  // namespace dossier::research
