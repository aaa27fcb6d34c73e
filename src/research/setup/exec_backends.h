// The backend that a configuration names, made ready for the slots of a run.
//
//   DOSSIER_ASSIGN_OR_RETURN(BackendFactory factory,
//                            MakeBackends({.config = &config.exec, .folder = run_folder}));
//   DOSSIER_ASSIGN_OR_RETURN(auto backend, factory("worker-0"));
//
// SandboxOf and ProbeMachine are the only places where a sandbox of a run is put together.
//
// Errors: kUsage (a name of no backend, of no layer); kUnavailable naming the program that was
// looked for, and the way out; kNotFound (image). Thread-safety: the factory may be called from
// many threads.

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
  std::string folder;                  // of the run, absolute: sandboxes lie in its workers/
  std::vector<std::string> degraded;   // --degraded: layers that may be missing
  // The environment of engines and of the queue's programs, "NAME=value"; commands never see it.
  std::vector<std::string> host_environment;
};

Result<BackendFactory> MakeBackends(const BackendSetup& setup);

// The sandbox of one workspace as the configuration wants it; `environment` is added to later. What
// a caller has beside it (binds, an image) it adds.
SandboxSpec SandboxOf(const ExecConfig& config, const std::string& workspace,
                      const std::vector<std::string>& environment);

struct ProbeOrder {
  std::string workspace;                     // absolute
  std::vector<std::string> all_environment;  // of the user, "NAME=value"
  ProbeCache cache;                          // without a folder: none is kept
};
// What a model is told of the machine, found in a sandbox that is started and stopped for it.
// Errors: those of Start; kCancelled.
Result<MachineFacts> ProbeMachine(const ExecConfig& config, ExecBackend& backend,
                                  const ProbeOrder& order, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SETUP_EXEC_BACKENDS_H_
