#include "research/setup/exec_backends.h"

#include <fmt/format.h>

#include <utility>

#include "base/process/process.h"
#include "research/exec/exec_container.h"
#include "research/exec/exec_local.h"
#include "research/exec/exec_slurm.h"
#include "research/files/run_folder.h"

namespace dossier::research {
namespace {

LocalOptions LocalOf(const BackendSetup& setup) {
  const ExecConfig& config = *setup.config;
  LocalOptions options;
  options.timeout = Millis(config.timeout * 1000);
  options.cpu = Millis(config.cpu_seconds * 1000);
  options.memory_bytes = static_cast<std::uint64_t>(config.memory_bytes);
  options.output_bytes = static_cast<std::uint64_t>(config.output_bytes);
  options.processes = static_cast<int>(config.processes);
  options.degraded = setup.degraded;
  if (!config.use_fakeroot || config.writable_mode == "none") {
    options.overlay = LocalOptions::Overlay::kNo;
  }
  if (!setup.folder.empty()) {
    options.system = fmt::format("{}/{}", setup.folder, run_files::kSystem);
  }
  return options;
}

Result<ContainerOptions> ContainerOf(const BackendSetup& setup, std::string_view engine) {
  const ExecConfig& config = *setup.config;
  ContainerOptions options;
  options.engine = engine;
  options.image = config.singularity_image;
  options.timeout = Millis(config.timeout * 1000);
  options.cpu_seconds = static_cast<std::uint64_t>(config.cpu_seconds);
  options.memory_bytes = static_cast<std::uint64_t>(config.memory_bytes);
  options.output_bytes = static_cast<std::uint64_t>(config.output_bytes);
  if (!config.use_fakeroot) options.root = ContainerOptions::Root::kNo;
  if (!config.writable_tmpfs) options.tmpfs = ContainerOptions::Tmpfs::kNo;
  if (!config.per_worker_sif) options.worker_image = ContainerOptions::WorkerImage::kNo;
  if (config.keep_sandbox) options.sandbox = ContainerOptions::Sandbox::kKeep;
  DOSSIER_ASSIGN_OR_RETURN(options.writable, FindWritableMode(config.writable_mode));
  options.overlay = config.container_overlay;
  options.extra_args = config.container_extra_args;
  options.host_environment = setup.host_environment;
  return options;
}

// Makes a container for a worker; what is missing is said before the run begins.
using Wrap =
    std::function<Result<std::unique_ptr<ExecBackend>>(std::unique_ptr<ContainerBackend> inner)>;

Result<BackendFactory> ContainerBackends(const BackendSetup& setup, std::string_view engine,
                                         const Wrap& wrap) {
  DOSSIER_ASSIGN_OR_RETURN(ContainerOptions options, ContainerOf(setup, engine));
  BackendFactory factory = [options, wrap, folder = setup.folder](
                               std::string_view worker) -> Result<std::unique_ptr<ExecBackend>> {
    ContainerOptions own = options;
    own.folder = fmt::format("{}/{}", folder, run_files::Worker(worker));
    DOSSIER_ASSIGN_OR_RETURN(auto inner, MakeContainerBackend(std::move(own)));
    return wrap(std::move(inner));
  };
  DOSSIER_ASSIGN_OR_RETURN(const auto tried, factory("worker-0"));
  return factory;
}

Result<BackendFactory> SlurmBackends(const BackendSetup& setup) {
  if (setup.config->singularity_image.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "--backend slurm runs its jobs in containers: name an image with --image FILE "
                     "or exec.singularity_image");
  }
  SlurmOptions options{.flags = setup.config->slurm};
  DOSSIER_ASSIGN_OR_RETURN(options.phases, ParseSlurmPhases(setup.config->slurm_phases));
  const bool has_apptainer = FindProgram("apptainer").has_value();
  const bool has_singularity = FindProgram("singularity").has_value();
  return ContainerBackends(setup, !has_apptainer && has_singularity ? "singularity" : "apptainer",
                           [options](std::unique_ptr<ContainerBackend> inner) {
                             return MakeSlurmBackend(std::move(inner), options);
                           });
}

}  // namespace

Result<BackendFactory> MakeBackends(const BackendSetup& setup) {
  const std::string& name = setup.config->backend;
  if (name == "local") return MakeLocalBackends(LocalOf(setup));
  if (name == "slurm") return SlurmBackends(setup);
  if (name == "apptainer" || name == "singularity") {
    return ContainerBackends(setup, name, [](std::unique_ptr<ContainerBackend> inner) {
      return Result<std::unique_ptr<ExecBackend>>(std::move(inner));
    });
  }
  return MakeError(ErrorCode::kUsage,
                   "exec.backend {}: there are local, apptainer, singularity, slurm", name);
}

}  // namespace dossier::research
