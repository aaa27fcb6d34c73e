// How `dossier context` ends when it fails: the error's own exit code, but for a command with
// `on_failure: fail`, which has one to itself (CON-4, CON-26).
//
//   if (!done) return FailContext(done.error(), "dossier.context-run/1", Form::kText, out, err);
//
// Thread-safety: pure but for what it prints.

#ifndef DOSSIER_CLI_CONTEXT_FAILURE_H_
#define DOSSIER_CLI_CONTEXT_FAILURE_H_

#include <ostream>
#include <string_view>

#include "base/result.h"

namespace dossier::cli {

enum class ContextForm { kText, kJson };

// A sentence on stderr; with kJson also an object with the error on stdout. Returns the exit code.
int FailContext(const Error& error, std::string_view schema, ContextForm form, std::ostream& out,
                std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CONTEXT_FAILURE_H_
