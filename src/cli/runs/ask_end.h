// What is said on stderr when a question has been answered, or could not be: warnings, why an
// answer is not confirmed, and where to look.
//
//   ExplainEnd(flags, outcome, context.cancel, context.err);
//
// Thread-safety: one writer to `err`.

#ifndef DOSSIER_CLI_RUNS_ASK_END_H_
#define DOSSIER_CLI_RUNS_ASK_END_H_

#include <iosfwd>

#include "ask/engine.h"
#include "base/cancel.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

// A signal that came late, when the answer was there, is told in place of an exit code that the
// process does not end with.
void ExplainEnd(const GlobalFlags& flags, const ask::Outcome& outcome, const CancelToken& cancel,
                std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_ASK_END_H_
