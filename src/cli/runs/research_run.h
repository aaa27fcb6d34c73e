// The working half of `dossier research`: run and resume.
//
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_RUNS_RESEARCH_RUN_H_
#define DOSSIER_CLI_RUNS_RESEARCH_RUN_H_

#include "base/result.h"
#include "cli/runs/research_setup.h"

namespace dossier::cli {

// The exit code. Errors: those of research::Run; kUsage, kNotFound.
Result<int> StartResearch(const ResearchCall& call);
Result<int> ResumeResearch(const ResearchCall& call);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RESEARCH_RUN_H_
