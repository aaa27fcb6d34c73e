// Makes the backend that a configuration names, for the slots of a run.
//
//   DOSSIER_ASSIGN_OR_RETURN(BackendFactory factory,
//                            MakeBackends({.config = &config.exec, .folder = run_folder}));
//   DOSSIER_ASSIGN_OR_RETURN(auto backend, factory("worker-0"));
//
// SandboxOf and ProbeMachine are the only places that set up a run's sandbox.
//
// Errors: kUsage (unknown backend or layer); kUnavailable naming the missing program and the
// remedy; kNotFound (image). Thread-safety: the factory may be called from many threads.

#ifndef DOSSIER_RESEARCH_SETUP_EXEC_BACKENDS_H_
#define DOSSIER_RESEARCH_SETUP_EXEC_BACKENDS_H_

#include <string>
#include <vector>

#include "research/exec/exec_backend.h"
#include "research/exec/probe.h"
#include "research/setup/config.h"

namespace dossier::research {

struct BackendSetup {
  const ExecConfig* config = nullptr;  // copied
  std::string folder;                  // the run folder, absolute: sandboxes are in its workers/
  std::vector<std::string> degraded;   // --degraded: layers that may be missing
  // The environment of engines and of the queue's programs, "NAME=value"; commands never see it.
  std::vector<std::string> host_environment;
};

Result<BackendFactory> MakeBackends(const BackendSetup& setup);

// Returns the sandbox of one workspace as configured; callers may extend `environment`, and add
// their own binds and image.
SandboxSpec SandboxOf(const ExecConfig& config, const std::string& workspace,
                      const std::vector<std::string>& environment);

struct ProbeOrder {
  std::string workspace;                     // absolute
  std::vector<std::string> all_environment;  // the user's, "NAME=value"
  ProbeCache cache;                          // without a folder: no cache
};
// Returns what a model is told about the machine, found in a sandbox that is started and stopped
// for it. Errors: those of Start; kCancelled.
Result<MachineFacts> ProbeMachine(const ExecConfig& config, ExecBackend& backend,
                                  const ProbeOrder& order, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SETUP_EXEC_BACKENDS_H_
