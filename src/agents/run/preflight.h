// Checks before the first engine starts for problems that would stop every task of a run: no commit
// identity, a merge in progress, missing programs.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Preflight found, LookAhead(*setup, options, ports));
//   DOSSIER_RETURN_IF_ERROR(RefuseProblems(*setup, found));
//   DOSSIER_RETURN_IF_ERROR(LogWarnings(found, log.get()));
//
// Thread-safety: plain data; functions that call git and look at files.

#ifndef DOSSIER_AGENTS_RUN_PREFLIGHT_H_
#define DOSSIER_AGENTS_RUN_PREFLIGHT_H_

#include <string>
#include <vector>

#include "agents/run/run.h"
#include "agents/run/run_setup.h"
#include "agents/task/run_log.h"
#include "base/result.h"

namespace dossier::agents {

// Sentences that include the remedy.
struct Preflight {
  std::vector<std::string> problems;  // no task can be completed
  std::vector<std::string> warnings;  // for a person, before the run starts
};

// Returns nothing for a run that has nothing to start. Errors: those of git.
Result<Preflight> LookAhead(const RunSetup& setup, const RunOptions& options,
                            const RunPorts& ports);

// Errors: kConfig with all problems, one per line; the setup's own error if it is the only one.
Status RefuseProblems(const RunSetup& setup, const Preflight& found);
// Sends the warnings to the run's watch and its record. Errors: as AgentLog::Add.
Status LogWarnings(const Preflight& found, AgentLog* log);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_PREFLIGHT_H_
