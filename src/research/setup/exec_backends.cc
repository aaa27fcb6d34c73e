#include "research/setup/exec_backends.h"

#include <fmt/format.h>

#include <utility>

#include "base/process/process.h"
#include "research/exec/disk_limit.h"
#include "research/exec/exec_backend.h"
#include "research/exec/exec_container.h"
#include "research/exec/exec_local.h"
#include "research/exec/exec_slurm.h"
#include "research/files/phase_files.h"
#include "research/files/run_folder.h"

namespace dossier::research {
namespace {

Result<LocalOptions> LocalOf(const BackendSetup& setup) {
  const ExecConfig& config = *setup.config;
  LocalOptions options;
  if (config.use_gpu) {
    DOSSIER_ASSIGN_OR_RETURN(options.gpu_devices, FindDevices(config.gpu));
  }
  options.file_bytes = static_cast<std::uint64_t>(config.disk);
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

// Makes a container for a worker; missing programs are reported before the run begins.
using Wrap =
    std::function<Result<std::unique_ptr<ExecBackend>>(std::unique_ptr<HostedBackend> inner)>;

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

Result<SlurmOptions> SlurmOf(const ExecConfig& config) {
  SlurmOptions options{.flags = config.slurm, .modules = config.modules};
  DOSSIER_ASSIGN_OR_RETURN(options.phases, ParseSlurmPhases(config.slurm_phases));
  return options;
}

Result<BackendFactory> SlurmBackends(const BackendSetup& setup) {
  if (setup.config->singularity_image.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "--backend slurm runs its jobs in containers: name an image with --image FILE "
                     "or exec.singularity_image; `--backend slurm-plain` runs them without");
  }
  DOSSIER_ASSIGN_OR_RETURN(const SlurmOptions options, SlurmOf(*setup.config));
  const bool has_apptainer = FindProgram("apptainer").has_value();
  const bool has_singularity = FindProgram("singularity").has_value();
  DOSSIER_ASSIGN_OR_RETURN(
      BackendFactory factory,
      ContainerBackends(setup, !has_apptainer && has_singularity ? "singularity" : "apptainer",
                        [options](std::unique_ptr<HostedBackend> inner) {
                          return MakeSlurmBackend(std::move(inner), options);
                        }));
  DOSSIER_RETURN_IF_ERROR(CheckQueue(setup.host_environment));
  return factory;
}

// Jobs run as the user, without a sandbox; all else runs in the local sandbox, at the same paths.
// What a node installs into system folders would not be on the cluster's machines.
Result<BackendFactory> PlainSlurmBackends(const BackendSetup& setup) {
  DOSSIER_ASSIGN_OR_RETURN(const SlurmOptions options, SlurmOf(*setup.config));
  DOSSIER_ASSIGN_OR_RETURN(LocalOptions local, LocalOf(setup));
  local.overlay = LocalOptions::Overlay::kNo;
  DOSSIER_ASSIGN_OR_RETURN(const BackendFactory walled, MakeLocalBackends(std::move(local)));
  const HostPlace plain{.timeout = Millis(setup.config->timeout * 1000),
                        .output_bytes = static_cast<std::uint64_t>(setup.config->output_bytes),
                        .environment = setup.host_environment};
  BackendFactory factory = [options, walled, plain, folder = setup.folder](
                               std::string_view worker) -> Result<std::unique_ptr<ExecBackend>> {
    HostPlace own = plain;
    own.folder = fmt::format("{}/{}", folder, run_files::Worker(worker));
    DOSSIER_ASSIGN_OR_RETURN(auto inner, walled(worker));
    return MakePlainSlurmBackend(std::move(inner), std::move(own), options);
  };
  DOSSIER_ASSIGN_OR_RETURN(const auto tried, factory("worker-0"));
  DOSSIER_RETURN_IF_ERROR(CheckQueue(setup.host_environment));
  return factory;
}

// Describes the runtime for a model: for a queue without containers, how to use more than one
// machine.
std::string RuntimeText(const ExecConfig& config) {
  if (config.backend == "local") return "";
  if (config.backend != "slurm-plain") return config.backend;
  std::string text = "none; programs run as jobs of Slurm (sbatch";
  for (const auto& [name, value] : config.slurm) text += fmt::format(" --{}={}", name, value);
  return text +
         "), each in its workspace at a path of its own, so name files relative to it; `srun "
         "PROGRAM` in a command starts a parallel program on all machines of the job";
}

Result<BackendFactory> NamedBackends(const BackendSetup& setup) {
  const std::string& name = setup.config->backend;
  if (name == "local") {
    DOSSIER_ASSIGN_OR_RETURN(LocalOptions options, LocalOf(setup));
    return MakeLocalBackends(std::move(options));
  }
  if (name == "slurm") return SlurmBackends(setup);
  if (name == "slurm-plain") return PlainSlurmBackends(setup);
  if (name == "apptainer" || name == "singularity") {
    return ContainerBackends(setup, name, [](std::unique_ptr<HostedBackend> inner) {
      return Result<std::unique_ptr<ExecBackend>>(std::move(inner));
    });
  }
  return MakeError(ErrorCode::kUsage, "exec.backend {}: there are {}", name,
                   fmt::join(kBackendNames, ", "));
}

}  // namespace

Result<BackendFactory> MakeBackends(const BackendSetup& setup) {
  DOSSIER_ASSIGN_OR_RETURN(BackendFactory factory, NamedBackends(setup));
  return WithDiskLimit(std::move(factory),
                       {.bytes = static_cast<std::uint64_t>(setup.config->disk)});
}

SandboxSpec SandboxOf(const ExecConfig& config, const std::string& workspace,
                      const std::vector<std::string>& environment) {
  // The folder for `pip install --target`, so that Python finds what is installed there.
  EnvironmentList variables(environment);
  const auto known = variables.Find("PYTHONPATH");
  const std::string packages = config.workspace_mount + "/.pydeps";
  variables.Set("PYTHONPATH", known ? fmt::format("{}:{}", packages, *known) : packages);
  return {.workspace = workspace,
          .mount = config.workspace_mount,
          .environment = variables.Take(),
          .network = config.network,
          .gpu = config.use_gpu ? SandboxSpec::Gpu::kYes : SandboxSpec::Gpu::kNo,
          .system = SystemBeside(workspace)};
}

Result<MachineFacts> ProbeMachine(const ExecConfig& config, ExecBackend& backend,
                                  const ProbeOrder& order, const CancelToken& cancel) {
  const std::vector<std::string> allowed = AllowedEnvironment(order.all_environment);
  ProbeConfig probe{.environment = allowed,
                    .variables_not_shown = order.all_environment.size() - allowed.size(),
                    .network = config.network,
                    .network_probe_host = config.network_probe_host,
                    .gpu = config.use_gpu ? ProbeConfig::Gpu::kYes : ProbeConfig::Gpu::kNo,
                    .container_runtime = RuntimeText(config),
                    .singularity_image = config.singularity_image,
                    .workspace_mount = config.workspace_mount,
                    .timeout_seconds = config.timeout};
  SandboxSpec spec = SandboxOf(config, order.workspace, allowed);
  spec.image = config.singularity_image;  // the original, without the folder that phase 1 changes
  DOSSIER_RETURN_IF_ERROR(backend.Start(spec));
  MachineFacts found = order.cache.folder.empty()
                           ? Probe(backend, probe, cancel)
                           : CachedProbe(backend, probe, order.cache, cancel);
  backend.Stop();
  if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
  return found;
}

}  // namespace dossier::research
