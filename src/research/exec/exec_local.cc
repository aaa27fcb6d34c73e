#include "research/exec/exec_local.h"

#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <utility>

#include "base/files/file.h"
#include "base/text/text.h"
#include "research/exec/command_rules.h"
#include "research/exec/exec_backend.h"
#include "research/exec/system_layers.h"
#include "sandbox/jail/jail.h"

namespace dossier::research {
namespace {

namespace fs = std::filesystem;

using sandbox::JailMount;

constexpr std::uint64_t kTmp = 1ull << 30;  // bytes of the private /tmp

// The meaning of `exec.gpu: [all]`: the device names that the drivers use.
constexpr const char* kGpuDevices[] = {
    "/dev/nvidia[0-9]*",   "/dev/nvidiactl", "/dev/nvidia-uvm",       "/dev/nvidia-uvm-tools",
    "/dev/nvidia-modeset", "/dev/kfd",       "/dev/dri/renderD[0-9]*"};
// Where the drivers' libraries look for devices, besides /proc.
constexpr const char* kGpuFacts[] = {"/sys/bus/pci", "/sys/class/drm", "/sys/class/kfd",
                                     "/sys/devices"};

bool HasNetwork(NetworkPolicy policy, Phase phase) {
  return policy == NetworkPolicy::kAlways ||
         (policy == NetworkPolicy::kPhase1 && phase == Phase::kInstall);
}

// Keeps output up to a limit, and forwards all of it.
class Outputs {
 public:
  Outputs(const ExecCommand& command, std::uint64_t limit, ExecResult& result)
      : command_(command), limit_(limit), result_(result) {}

  void Take(sandbox::Stream stream, std::string_view text) {
    const bool is_out = stream == sandbox::Stream::kOut;
    (is_out ? result_.out_bytes : result_.err_bytes) += text.size();
    std::string& kept = is_out ? result_.out : result_.err;
    const std::string_view fits = text.substr(0, limit_ - std::min(limit_, kept.size()));
    kept.append(fits);
    if (command_.on_output && !fits.empty()) command_.on_output(fits);
  }

 private:
  const ExecCommand& command_;
  const std::uint64_t limit_;
  ExecResult& result_;
};

// Shared by the slots of a run: options, and facts found out about the machine.
class LocalMachine {
 public:
  explicit LocalMachine(LocalOptions options)
      : options(std::move(options)), system(this->options.system) {}

  const LocalOptions options;
  SystemLayers system;

  // Returns the result of `find`, called once: it would be the same later. A failure is not cached.
  Result<std::vector<std::string>> Layers(
      const std::function<Result<std::vector<std::string>>()>& find) {
    const std::lock_guard lock(mutex_);
    if (layers_) return *layers_;
    DOSSIER_ASSIGN_OR_RETURN(layers_, find());
    return *layers_;
  }

 private:
  std::mutex mutex_;
  std::optional<std::vector<std::string>> layers_;
};

class LocalBackend final : public ExecBackend {
 public:
  explicit LocalBackend(std::shared_ptr<LocalMachine> machine)
      : machine_(std::move(machine)), options_(machine_->options) {}

  Status Start(const SandboxSpec& spec) override {
    Stop();
    DOSSIER_RETURN_IF_ERROR(MakeFolders(spec.workspace));
    DOSSIER_ASSIGN_OR_RETURN(owner_, OwnerOf(spec.workspace));
    spec_ = spec;
    DOSSIER_RETURN_IF_ERROR(ClearPlaces(spec_));
    auto layers = machine_->Layers([&] { return LayersOf(Jail(Nothing())); });
    if (!layers) {
      Stop();
      return MakeError(layers.error().code, "{}{}", layers.error().message,
                       sandbox::WayOut(layers.error()));
    }
    layers_ = std::move(*layers);
    const Status opened = OpenSystem();
    if (opened || opened.error().code != ErrorCode::kUnavailable) return opened;
    no_overlay_ = opened.error().message;
    return ForgetInstalled();
  }

  Result<ExecResult> Run(const ExecCommand& command, const CancelToken& cancel) override {
    if (spec_.workspace.empty()) return NotStarted();
    if (cancel.cancelled()) return Cancelled(cancel);
    RuledCommand ruled = ApplyCommandRules(
        command, MayInstall(command) ? SandboxFacts::Root::kYes : SandboxFacts::Root::kNo);
    if (ruled.refusal) return std::move(*ruled.refusal);
    DOSSIER_ASSIGN_OR_RETURN(ExecResult result, RunInJail(ruled.command, cancel));
    result.note = std::move(ruled.note);
    return result;
  }

  Result<ImageRef> Snapshot(std::string_view) override { return ImageRef{}; }

  SandboxFacts Facts() const override {
    return {.kind = "local",
            .layers = layers_,
            .root = may_install_ ? SandboxFacts::Root::kYes : SandboxFacts::Root::kNo,
            .no_overlay = no_overlay_,
            .warning = may_install_ ? machine_->system.left_out() : ""};
  }

  void Stop() noexcept override {
    spec_ = {};
    may_install_ = false;
    no_overlay_.clear();
  }

 private:
  static ExecCommand Nothing() { return {.argv = {"true"}, .phase = Phase::kCompile}; }

  bool MayInstall(const ExecCommand& command) const {
    return may_install_ && command.phase == Phase::kInstall;
  }

  // Errors: kUnavailable with the reason why there is no overlay.
  Status OpenSystem() {
    if (spec_.use != SandboxSpec::Use::kInstall) return {};
    if (options_.overlay == LocalOptions::Overlay::kNo ||
        IsOneOf("overlay", options_.disabled_layers)) {
      return MakeError(ErrorCode::kUnavailable, "switched off");
    }
    if (spec_.system.empty()) {
      return MakeError(ErrorCode::kUnavailable, "there is no folder for it");
    }
    if (!IsOneOf("namespaces", layers_)) {
      return MakeError(ErrorCode::kUnavailable, "there are no namespaces");
    }
    DOSSIER_RETURN_IF_ERROR(machine_->system.Prepare(owner_));
    DOSSIER_ASSIGN_OR_RETURN(const auto found, machine_->system.Open(spec_.system, owner_));
    if (found == SystemLayers::Found::kFresh) DOSSIER_RETURN_IF_ERROR(ForgetMark());
    sandbox::JailSpec jail = Jail(Nothing());
    DOSSIER_RETURN_IF_ERROR(AddWritableSystem(jail));
    // The kernel silently makes an overlay read-only if it cannot write to its layer.
    DOSSIER_ASSIGN_OR_RETURN(
        layers_, LayersOf(jail, {"/bin/sh", "-c", ": > /usr/.written && rm /usr/.written"}));
    may_install_ = true;
    return {};
  }

  // For a node that installed something elsewhere and cannot continue here.
  Status ForgetInstalled() const {
    if (spec_.system.empty() || !Exists(spec_.system)) return {};
    DOSSIER_RETURN_IF_ERROR(RemoveAll(spec_.system));
    return ForgetMark();
  }

  // Removes the mark's folder too, which a command may have replaced by a link.
  Status ForgetMark() const {
    constexpr std::string_view kFolder = kInstallMark.substr(0, kInstallMark.find('/'));
    return RemoveAll(fmt::format("{}/{}", spec_.workspace, kFolder));
  }

  Status AddWritableSystem(sandbox::JailSpec& jail) const {
    DOSSIER_ASSIGN_OR_RETURN(jail.overlays, machine_->system.Writable(spec_.system, owner_));
    jail.user = sandbox::JailUser::kRoot;
    EnvironmentList environment(jail.environment);
    environment.Add(InstallEnvironment(environment.Find("PATH").value_or("")));
    jail.environment = environment.Take();
    return {};
  }

  static Result<std::vector<std::string>> LayersOf(const sandbox::JailSpec& jail,
                                                   std::vector<std::string> argv = {"true"}) {
    DOSSIER_ASSIGN_OR_RETURN(const sandbox::Exit exit, sandbox::RunJailed(jail, argv));
    if (exit.status == 0) return Applied(exit.report);
    return MakeError(ErrorCode::kUnavailable, "the sandbox's first command failed: {}",
                     TrimSpace(exit.err));
  }

  static std::vector<std::string> Applied(const sandbox::IsolationReport& report) {
    std::vector<std::string> names;
    for (const sandbox::Layer& layer : report.layers) {
      if (layer.state == sandbox::LayerState::kApplied) names.push_back(layer.name);
    }
    return names;
  }

  sandbox::JailSpec Jail(const ExecCommand& command) const {
    sandbox::JailSpec jail;
    jail.read.assign(std::begin(kShownPaths), std::end(kShownPaths));
    // The workspace belongs to the run, and what is installed may have to be cloned.
    jail.mounts.push_back({spec_.workspace, spec_.mount, JailMount::Access::kWriteAll});
    for (const Bind& bind : spec_.binds) {
      jail.mounts.push_back({bind.host, bind.mount,
                             bind.access == Bind::Access::kWrite ? JailMount::Access::kWrite
                                                                 : JailMount::Access::kRead});
    }
    jail.network = HasNetwork(spec_.network, command.phase) ? sandbox::JailNetwork::kAny
                                                            : sandbox::JailNetwork::kLoopback;
    if (spec_.gpu == SandboxSpec::Gpu::kYes && !options_.gpu_devices.empty()) {
      jail.devices = options_.gpu_devices;
      jail.read.insert(jail.read.end(), std::begin(kGpuFacts), std::end(kGpuFacts));
    }
    jail.folder =
        command.folder.empty() ? spec_.mount : fmt::format("{}/{}", spec_.mount, command.folder);
    EnvironmentList environment(spec_.environment);
    environment.Remove("TMPDIR");
    environment.Set("HOME", spec_.mount);
    environment.Default("PATH", "/usr/local/bin:/usr/bin:/bin");
    // Open MPI would copy directly between the memories of processes, which is forbidden here,
    // without checking that it can; shared memory is its alternative.
    environment.Default("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
    // `mpirun -n 4` is what a program is asked for, however many cores there are.
    environment.Default("OMPI_MCA_rmaps_base_oversubscribe", "1");
    if (jail.network == sandbox::JailNetwork::kLoopback) {
      // Open MPI leaves loopback out, and there is nothing else.
      environment.Default("OMPI_MCA_btl_tcp_if_include", "lo");
      environment.Default("OMPI_MCA_oob_tcp_if_include", "lo");
    }
    environment.Add(command.environment);
    jail.environment = environment.Take();
    jail.limits.wall = command.time_limit.value_or(options_.timeout);
    jail.limits.cpu = options_.cpu;
    jail.limits.memory = options_.memory_bytes;
    jail.limits.processes = options_.processes;
    jail.limits.file_size = options_.file_bytes;
    jail.limits.tmp = kTmp;
    sandbox::AcceptMissing(options_.degraded, &jail);
    jail.disabled_layers = options_.disabled_layers;
    return jail;
  }

  Result<ExecResult> RunInJail(const ExecCommand& command, const CancelToken& cancel) const {
    const std::vector<std::string> argv =
        command.argv.empty() ? std::vector<std::string>{"/bin/sh", "-c", command.command}
                             : command.argv;
    DOSSIER_RETURN_IF_ERROR(ClearPlaces(spec_));
    sandbox::JailSpec jail = Jail(command);
    if (MayInstall(command)) {
      DOSSIER_RETURN_IF_ERROR(AddWritableSystem(jail));
    } else {
      jail.overlays = machine_->system.ReadOnly(spec_.system);
    }
    ExecResult result;
    result.no_overlay = no_overlay_;
    Outputs outputs(command, options_.output_bytes, result);
    sandbox::Io io{.cancel = cancel};
    io.on_output = [&](sandbox::Stream stream, std::string_view text) {
      outputs.Take(stream, text);
    };
    auto exit = sandbox::RunJailed(jail, argv, io);
    if (!exit) return NotRun(command, exit.error());
    if (exit->cancelled()) return Cancelled(cancel);
    result.status = exit->shell_status();
    result.signal = exit->signal;
    result.timed_out = exit->timed_out() || exit->stop == sandbox::JailStop::kCpu;
    result.out_of_memory = exit->stop == sandbox::JailStop::kMemory;
    result.err += StopText(*exit);
    result.seconds = std::chrono::duration<double>(exit->wall).count();
    result.peak_bytes = exit->peak_bytes;
    result.layers = Applied(exit->report);
    return result;
  }

  // A missing program or folder is the command's own failure, as in a shell.
  static Result<ExecResult> NotRun(const ExecCommand& command, const Error& error) {
    const bool of_command = !command.argv.empty() || !command.folder.empty();
    if (!of_command ||
        (error.code != ErrorCode::kNotFound && error.code != ErrorCode::kPermission)) {
      return tl::unexpected(error);
    }
    ExecResult result{.status = error.code == ErrorCode::kNotFound ? 127 : 126,
                      .err = error.message + "\n"};
    result.err_bytes = result.err.size();
    return result;
  }

  std::string StopText(const sandbox::Exit& exit) const {
    switch (exit.stop) {
      case sandbox::JailStop::kTime:
        return fmt::format(
            "\n[ended by the sandbox: the time limit, after {:.0f} s (exec.timeout)]\n",
            std::chrono::duration<double>(exit.wall).count());
      case sandbox::JailStop::kCpu:
        return fmt::format(
            "\n[ended by the sandbox: the limit of {} s of processor time "
            "(exec.cpu_seconds)]\n",
            options_.cpu.count() / 1000);
      case sandbox::JailStop::kMemory:
        return fmt::format("\n[ended by the sandbox: the memory limit of {} (exec.memory_bytes)]\n",
                           FormatSize(options_.memory_bytes));
      case sandbox::JailStop::kProcesses:
        return fmt::format("\n[ended by the sandbox: the limit of {} processes (exec.processes)]\n",
                           options_.processes);
      case sandbox::JailStop::kNothing:
        if (exit.signal != SIGXFSZ) break;
        return fmt::format("\n[ended by the sandbox: a file of {} (exec.disk)]\n",
                           FormatSize(options_.file_bytes));
      case sandbox::JailStop::kCancel:
        break;
    }
    return "";
  }

  const std::shared_ptr<LocalMachine> machine_;
  const LocalOptions& options_;  // owned by the machine
  SandboxSpec spec_;
  FileOwner owner_ = {};
  std::vector<std::string> layers_;
  bool may_install_ = false;
  std::string no_overlay_;
};

// Returns the paths that match a shell pattern.
std::vector<std::string> Matches(const char* pattern) {
  glob_t found = {};
  std::vector<std::string> paths;
  if (glob(pattern, 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return paths;
}

bool IsDevice(const std::string& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 && S_ISCHR(facts.st_mode);
}

}  // namespace

// Such a link, left by a command, would lead the host's mkdir out of the workspace.
Status ClearPlaces(const SandboxSpec& spec) {
  for (const Bind& bind : spec.binds) {
    const fs::path inside = fs::path(bind.mount).lexically_relative(spec.mount);
    if (inside.empty() || *inside.begin() == "..") continue;
    fs::path place = spec.workspace;
    for (const fs::path& name : inside) {
      place /= name;
      std::error_code error;
      if (!fs::is_symlink(place, error)) continue;
      DOSSIER_RETURN_IF_ERROR(RemoveAll(place.string()));
      break;
    }
  }
  return {};
}

Result<std::vector<std::string>> FindDevices(const std::vector<std::string>& named) {
  std::vector<std::string> devices;
  for (const std::string& name : named) {
    const bool all = name == "all";
    std::vector<std::string> found;
    for (const char* pattern : kGpuDevices) {
      if (all) std::ranges::copy(Matches(pattern), std::back_inserter(found));
    }
    if (!all && name.starts_with('/')) found = Matches(name.c_str());
    if (found.empty()) {
      return MakeError(ErrorCode::kConfig,
                       "exec.gpu: there is no device {} here; name device files (`ls /dev`), or "
                       "leave it out",
                       all ? "of a GPU" : name);
    }
    for (std::string& path : found) {
      if (!IsDevice(path)) {
        return MakeError(ErrorCode::kConfig, "exec.gpu: {} is no character device", path);
      }
      devices.push_back(std::move(path));
    }
  }
  return devices;
}

Result<BackendFactory> MakeLocalBackends(LocalOptions options) {
  DOSSIER_RETURN_IF_ERROR(sandbox::CheckLayerNames(options.degraded));
  return BackendFactory([machine = std::make_shared<LocalMachine>(std::move(options))](
                            std::string_view) -> Result<std::unique_ptr<ExecBackend>> {
    return std::make_unique<LocalBackend>(machine);
  });
}

Result<std::unique_ptr<ExecBackend>> MakeLocalBackend(LocalOptions options) {
  DOSSIER_ASSIGN_OR_RETURN(const BackendFactory make, MakeLocalBackends(std::move(options)));
  return make("");
}

}  // namespace dossier::research
