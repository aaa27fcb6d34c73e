// The writing half of `dossier agents`: run, prompt, resume.
//
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_RUNS_AGENTS_RUN_H_
#define DOSSIER_CLI_RUNS_AGENTS_RUN_H_

#include <istream>
#include <ostream>

#include "agents/run/run.h"
#include "base/cancel.h"
#include "base/result.h"
#include "cli/runs/agents_command.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

struct AgentsStreams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
};

// Configuration and everything else that a run takes from outside. Errors: kConfig, kRefused.
Result<agents::RunPorts> MakePorts(const AgentsArguments& arguments, const GlobalFlags& flags,
                                   const CancelToken& cancel, std::ostream& err);

// run, prompt and resume; returns the exit code. Errors: as agents::RunTasks; kUsage.
Result<int> RunAgentsWork(const AgentsArguments& arguments, const GlobalFlags& flags,
                          const CancelToken& cancel, const AgentsStreams& streams);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_AGENTS_RUN_H_
