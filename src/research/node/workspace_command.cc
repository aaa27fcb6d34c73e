#include "research/node/workspace_command.h"

#include <utility>

#include "research/files/phase_files.h"

namespace dossier::research {

Result<ExecResult> RunInWorkspace(const Services& services, const WorkspacePlace& place,
                                  const Command& command, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const std::unique_ptr<ExecBackend> backend,
                           services.backend(place.worker));
  SandboxSpec spec{
      .workspace = place.workspace,
      .mount = services.config->exec.workspace_mount,
      .binds = services.binds,
      .environment = services.environment,
      .network = place.network.value_or(services.config->exec.network),
      .image = place.image,
      .gpu = services.config->exec.use_gpu ? SandboxSpec::Gpu::kYes : SandboxSpec::Gpu::kNo,
      .system = SystemBeside(place.workspace)};
  spec.environment.insert(spec.environment.end(), place.environment.begin(),
                          place.environment.end());
  spec.binds.insert(spec.binds.end(), place.binds.begin(), place.binds.end());
  DOSSIER_RETURN_IF_ERROR(backend->Start(spec));
  Result<ExecResult> result = backend->Run(command, cancel);
  backend->Stop();
  return result;
}

}  // namespace dossier::research
