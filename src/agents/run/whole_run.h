// The part that new and resumed runs share: guard, workers, results, the end of the log.
//
//   WholeRunParts parts{.options = options, .ports = ports, .setup = *setup, .budget = budget};
//   DOSSIER_ASSIGN_OR_RETURN(const AgentRunResult summary,
//                            WorkAll(parts, std::move(log), nullptr));
//
// Thread-safety: functions; WorkAll blocks the caller.

#ifndef DOSSIER_AGENTS_RUN_WHOLE_RUN_H_
#define DOSSIER_AGENTS_RUN_WHOLE_RUN_H_

#include <memory>
#include <string>

#include "agents/run/progress.h"
#include "agents/run/run.h"
#include "agents/run/run_setup.h"
#include "agents/task/run_budget.h"
#include "agents/task/run_log.h"
#include "base/result.h"

namespace dossier::agents {

struct WholeRunParts {
  const RunOptions& options;
  const RunPorts& ports;
  RunSetup& setup;
  RunBudget& budget;
};

// `progress`: that of a resumed run; else null. Errors: those of git, the log and the disk.
Result<AgentRunResult> WorkAll(const WholeRunParts& parts, std::unique_ptr<AgentLog> log,
                               const RunProgress* progress);

RunLogPlaces PlacesOf(const RunPorts& ports, std::string folder, SecretValues secrets);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_WHOLE_RUN_H_
