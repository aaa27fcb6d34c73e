#include "research/node/workspace_command.h"

#include "research/setup/exec_backends.h"

namespace dossier::research {

Result<ExecResult> RunInWorkspace(const Services& services, const WorkspacePlace& place,
                                  const ExecCommand& command, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const std::unique_ptr<ExecBackend> backend,
                           services.backend(place.worker));
  SandboxSpec spec = SandboxOf(services.config->exec, place.workspace, services.environment);
  spec.binds = services.binds;
  spec.network = place.network.value_or(spec.network);
  spec.image = place.image;
  spec.environment.insert(spec.environment.end(), place.environment.begin(),
                          place.environment.end());
  spec.binds.insert(spec.binds.end(), place.binds.begin(), place.binds.end());
  DOSSIER_RETURN_IF_ERROR(backend->Start(spec));
  Result<ExecResult> result = backend->Run(command, cancel);
  backend->Stop();
  return result;
}

}  // namespace dossier::research
