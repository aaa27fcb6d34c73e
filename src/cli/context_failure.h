// How `dossier context` and `dossier conversations` end when they fail: the error as a sentence
// and, with --json, as an object (CON-1), and its exit code (CON-4).
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
