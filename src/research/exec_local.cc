#include "research/exec_local.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "research/command_rules.h"
#include "research/environment_list.h"
#include "sandbox/jail.h"

namespace dossier::research {
namespace {

namespace fs = std::filesystem;

using sandbox::JailMount;

// What programs of a research run look up beside the folders of the jail: other compilers, fonts
// and TeX, MPI's settings, and what the probe reads. Absent ones are left out.
constexpr const char* kReadable[] = {"/opt",
                                     "/etc/os-release",
                                     "/etc/fonts",
                                     "/etc/matplotlibrc",
                                     "/etc/OpenCL",
                                     "/etc/openmpi",
                                     "/etc/texmf",
                                     "/var/cache/fontconfig",
                                     "/var/lib/dpkg",
                                     "/var/lib/texmf",
                                     "/sys/devices/system/cpu",
                                     "/sys/devices/system/node"};
// Those that strict isolation has; a missing one must be named to be done without.
constexpr std::array<std::string_view, 6> kLayers = {"process", "namespaces", "flags",
                                                     "rlimits", "landlock",   "seccomp"};
constexpr std::uint64_t kFileSize = 16ull << 30;  // bytes of one file
constexpr std::uint64_t kTmp = 1ull << 30;        // bytes of the private /tmp

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool HasNetwork(NetworkPolicy policy, Phase phase) {
  return policy == NetworkPolicy::kAlways ||
         (policy == NetworkPolicy::kPhase1 && phase == Phase::kInstall);
}

// Keeps output up to a limit, and passes all of it on.
class Outputs {
 public:
  Outputs(const Command& command, std::uint64_t limit, CommandResult& result)
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
  const Command& command_;
  const std::uint64_t limit_;
  CommandResult& result_;
};

class LocalBackend final : public ExecBackend {
 public:
  explicit LocalBackend(LocalOptions options) : options_(std::move(options)) {}

  Status Start(const SandboxSpec& spec) override {
    Stop();
    DOSSIER_RETURN_IF_ERROR(MakeFolders(spec.workspace));
    spec_ = spec;
    const Command nothing{.argv = {"true"}, .phase = Phase::kCompile};
    auto tried = RunInJail(nothing, {});
    if (!tried) {
      spec_ = {};
      return MakeError(tried.error().code, "{}{}", tried.error().message, WayOut(tried.error()));
    }
    layers_ = std::move(tried->layers);
    return {};
  }

  Result<CommandResult> Run(const Command& command, const CancelToken& cancel) override {
    if (spec_.workspace.empty()) return NotStarted();
    if (cancel.cancelled()) return Cancelled(cancel);
    RuledCommand ruled = ApplyCommandRules(command, SandboxFacts::Root::kNo);
    if (ruled.refusal) return std::move(*ruled.refusal);
    DOSSIER_ASSIGN_OR_RETURN(CommandResult result, RunInJail(ruled.command, cancel));
    result.note = std::move(ruled.note);
    return result;
  }

  Result<ImageRef> Snapshot(std::string_view) override { return ImageRef{}; }

  SandboxFacts Facts() const override { return {.kind = "local", .layers = layers_}; }

  void Stop() noexcept override { spec_.workspace.clear(); }

 private:
  static std::string WayOut(const Error& error) {
    if (error.code != ErrorCode::kUnavailable) return "";
    for (const std::string_view layer : kLayers) {
      if (error.message.find(fmt::format(" {} ", layer)) == std::string::npos) continue;
      return fmt::format("; `--degraded {}` runs without it", layer);
    }
    return "";
  }

  sandbox::JailSpec Jail(const Command& command) const {
    sandbox::JailSpec jail;
    jail.read.assign(std::begin(kReadable), std::end(kReadable));
    jail.mounts.push_back({spec_.workspace, spec_.mount, JailMount::Access::kWrite});
    for (const Bind& bind : spec_.binds) {
      jail.mounts.push_back({bind.host, bind.mount,
                             bind.access == Bind::Access::kWrite ? JailMount::Access::kWrite
                                                                 : JailMount::Access::kRead});
    }
    if (HasNetwork(spec_.network, command.phase)) jail.network = sandbox::JailNetwork::kAny;
    jail.folder =
        command.folder.empty() ? spec_.mount : fmt::format("{}/{}", spec_.mount, command.folder);
    EnvironmentList environment(spec_.environment);
    environment.Remove("TMPDIR");
    environment.Set("HOME", spec_.mount);
    environment.Default("PATH", "/usr/local/bin:/usr/bin:/bin");
    environment.Add(command.environment);
    jail.environment = environment.Take();
    jail.limits.wall = command.time_limit.value_or(options_.timeout);
    jail.limits.cpu = options_.cpu;
    jail.limits.memory = options_.memory_bytes;
    jail.limits.processes = options_.processes;
    jail.limits.file_size = kFileSize;
    jail.limits.tmp = kTmp;
    jail.mode = options_.degraded.empty() ? sandbox::Mode::kStrict : sandbox::Mode::kDegraded;
    for (const std::string_view layer : kLayers) {
      if (!Contains(options_.degraded, layer)) jail.required_layers.emplace_back(layer);
    }
    jail.disabled_layers = options_.disabled_layers;
    return jail;
  }

  // A link that a command left where a bind goes would lead the host's own mkdir out of the
  // workspace.
  Status ClearPlaces() const {
    for (const Bind& bind : spec_.binds) {
      const fs::path inside = fs::path(bind.mount).lexically_relative(spec_.mount);
      if (inside.empty() || *inside.begin() == "..") continue;
      fs::path place = spec_.workspace;
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

  Result<CommandResult> RunInJail(const Command& command, const CancelToken& cancel) const {
    const std::vector<std::string> argv =
        command.argv.empty() ? std::vector<std::string>{"/bin/sh", "-c", command.command}
                             : command.argv;
    DOSSIER_RETURN_IF_ERROR(ClearPlaces());
    CommandResult result;
    Outputs outputs(command, options_.output_bytes, result);
    sandbox::Io io{.cancel = cancel};
    io.on_output = [&](sandbox::Stream stream, std::string_view text) {
      outputs.Take(stream, text);
    };
    auto exit = sandbox::RunJailed(Jail(command), argv, io);
    if (!exit) return NotRun(command, exit.error());
    if (exit->cancelled()) return Cancelled(cancel);
    result.status = exit->shell_status();
    result.signal = exit->signal;
    result.timed_out = exit->timed_out() || exit->stop == sandbox::JailStop::kCpu;
    result.out_of_memory = exit->stop == sandbox::JailStop::kMemory;
    if (exit->stop != sandbox::JailStop::kNothing) result.err += StopText(*exit);
    result.seconds = std::chrono::duration<double>(exit->wall).count();
    result.peak_bytes = exit->peak_bytes;
    for (const sandbox::Layer& layer : exit->report.layers) {
      if (layer.state == sandbox::LayerState::kApplied) result.layers.push_back(layer.name);
    }
    return result;
  }

  // A program or a folder that is not there is the command's own failure, as in a shell.
  static Result<CommandResult> NotRun(const Command& command, const Error& error) {
    const bool of_command = !command.argv.empty() || !command.folder.empty();
    if (!of_command ||
        (error.code != ErrorCode::kNotFound && error.code != ErrorCode::kPermission)) {
      return tl::unexpected(error);
    }
    CommandResult result{.status = error.code == ErrorCode::kNotFound ? 127 : 126,
                         .err = error.message + "\n"};
    result.err_bytes = result.err.size();
    return result;
  }

  std::string StopText(const sandbox::Exit& exit) const {
    switch (exit.stop) {
      case sandbox::JailStop::kTime:
        return fmt::format("\n[ended by the sandbox: the time limit, after {:.0f} s]\n",
                           std::chrono::duration<double>(exit.wall).count());
      case sandbox::JailStop::kCpu:
        return fmt::format("\n[ended by the sandbox: the limit of {} s of processor time]\n",
                           options_.cpu.count() / 1000);
      case sandbox::JailStop::kMemory:
        return fmt::format("\n[ended by the sandbox: the memory limit of {}]\n",
                           FormatSize(options_.memory_bytes));
      case sandbox::JailStop::kProcesses:
        return fmt::format("\n[ended by the sandbox: the limit of {} processes]\n",
                           options_.processes);
      case sandbox::JailStop::kNothing:
      case sandbox::JailStop::kCancel:
        break;
    }
    return "";
  }

  const LocalOptions options_;
  SandboxSpec spec_;
  std::vector<std::string> layers_;
};

}  // namespace

Result<std::unique_ptr<ExecBackend>> MakeLocalBackend(LocalOptions options) {
  for (const std::string& name : options.degraded) {
    if (std::find(kLayers.begin(), kLayers.end(), name) != kLayers.end()) continue;
    return MakeError(ErrorCode::kUsage, "--degraded {}: no such layer; there are {}", name,
                     fmt::join(kLayers, ", "));
  }
  return std::make_unique<LocalBackend>(std::move(options));
}

}  // namespace dossier::research
