// Checks before the first engine starts that nothing would stop every task of a run: an identity
// for commits, no merge in progress, every program installed.
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

// Sentences with the way out.
struct Preflight {
  std::vector<std::string> problems;  // no task can come to its end
  std::vector<std::string> warnings;  // what a person should know before it starts
};

// Of a run that has nothing to start: nothing. Errors: those of git.
Result<Preflight> LookAhead(const RunSetup& setup, const RunOptions& options,
                            const RunPorts& ports);

// Errors: kConfig with all problems, a line each; the setup's own where that is the only one.
Status RefuseProblems(const RunSetup& setup, const Preflight& found);
// The warnings, for the run's watch and its record. Errors: as RunLog::Add.
Status LogWarnings(const Preflight& found, RunLog* log);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_PREFLIGHT_H_
