// One plain call over a context that fits (REC-2), and the search that stands beside a hint.

#ifndef DOSSIER_RECURSION_DIRECT_H_
#define DOSSIER_RECURSION_DIRECT_H_

#include <string>

#include "recursion/call_loop.h"
#include "recursion/run_state.h"

namespace dossier::recursion {

// The whole context and the question. Errors: kTooLong if it does not fit the window; kIo.
Result<assembly::Assembled> AssembleDirect(RunState& run);

// Errors: the model's; kTooLong when the provider says so.
Result<CallResult> AnswerDirectly(RunState& run);

// For a small model over free text: the paragraphs that share the question's rarest words
// (small-models 17); empty where it does not apply.
std::string FindPassagesFor(RunState& run);

}  // namespace dossier::recursion

#endif  // DOSSIER_RECURSION_DIRECT_H_
