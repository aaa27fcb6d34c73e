// The reading half of `dossier research`: status, tree, report, prompts. Nothing of a run changes,
// but for report --rewrite.
//
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_RUNS_RESEARCH_VIEW_H_
#define DOSSIER_CLI_RUNS_RESEARCH_VIEW_H_

#include "base/result.h"
#include "cli/runs/research_setup.h"

namespace dossier::cli {

// The exit code. Errors: kNotFound, kDamaged, kUsage.
Result<int> ShowResearchStatus(const ResearchCall& call);
Result<int> ShowResearchTree(const ResearchCall& call);
// Errors: also kLocked: a run that works writes its report itself.
Result<int> ShowResearchReport(const ResearchCall& call);
Result<int> ShowResearchPrompts(const ResearchCall& call);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RESEARCH_VIEW_H_
