// The reading half of `dossier agents`: status, lint-notes, context.
//
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_RUNS_AGENTS_STATUS_H_
#define DOSSIER_CLI_RUNS_AGENTS_STATUS_H_

#include <ostream>

#include "base/cancel.h"
#include "base/result.h"
#include "cli/runs/agents_command.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

// These return the exit code. Errors: kNotFound (run, task), kConfig.
Result<int> ShowAgentsStatus(const AgentsArguments& arguments, const GlobalFlags& flags,
                             const CancelToken& cancel, std::ostream& out, std::ostream& err);
Result<int> LintAgentNotes(const AgentsArguments& arguments, const GlobalFlags& flags,
                           std::ostream& out, std::ostream& err);
Result<int> ShowAgentContext(const AgentsArguments& arguments, const GlobalFlags& flags,
                             const CancelToken& cancel, std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_AGENTS_STATUS_H_
