// `dossier research probe` and `resources`: what a run would find, without a run.
//
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_RUNS_RESEARCH_TOOLS_H_
#define DOSSIER_CLI_RUNS_RESEARCH_TOOLS_H_

#include "base/result.h"
#include "cli/runs/research_setup.h"

namespace dossier::cli {

// The exit code. Errors: kUnavailable (the backend), kConfig.
Result<int> ProbeMachine(const ResearchCall& call);
// Errors: kCheckFailed with all that is wrong.
Result<int> CheckResources(const ResearchCall& call);
// Errors: kNotFound, kDamaged.
Result<int> DigestResources(const ResearchCall& call);
Result<int> ShowResources(const ResearchCall& call);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RESEARCH_TOOLS_H_
