// The possible states of a run in the journal, as lists show and filter them.
//
//   OneOf("finl", kRunStates)   // "one of running, …; did you mean final?"
//
// Thread-safety: constants.

#ifndef DOSSIER_STORE_RUN_STATES_H_
#define DOSSIER_STORE_RUN_STATES_H_

#include <string_view>

namespace dossier::store {

inline constexpr std::string_view kRunStates[] = {
    "running", "final", "extracted", "partial", "none", "interrupted", "failed", "abandoned"};

}  // namespace dossier::store

#endif  // DOSSIER_STORE_RUN_STATES_H_
