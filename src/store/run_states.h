// The states in which a run of the journal can be, as lists show and choose them.
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
