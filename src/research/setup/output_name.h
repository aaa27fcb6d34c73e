// The file that a run's programs write their results to.
//
//   OutputName("2026-01-28_17-46-11_Matrix Opt!_attempt_3")     // "matrix_opt_data.npy"
//
// Thread-safety: pure function.

#ifndef DOSSIER_RESEARCH_SETUP_OUTPUT_NAME_H_
#define DOSSIER_RESEARCH_SETUP_OUTPUT_NAME_H_

#include <string>
#include <string_view>

namespace dossier::research {

// `run` is the name of a run's folder, with or without its date and attempt.
std::string OutputName(std::string_view run);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SETUP_OUTPUT_NAME_H_
