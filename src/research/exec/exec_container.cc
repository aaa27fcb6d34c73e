#include "research/exec/exec_container.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/process/process.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "research/exec/command_rules.h"
#include "research/exec/exec_backend.h"
#include "research/exec/probe.h"
#include "research/files/cuts.h"

namespace dossier::research {
namespace {

using Argv = std::vector<std::string>;

constexpr std::array<std::pair<std::string_view, WritableMode>, 5> kModes = {
    {{"auto", WritableMode::kAuto},
     {"sandbox", WritableMode::kSandbox},
     {"tmpfs", WritableMode::kTmpfs},
     {"overlay", WritableMode::kOverlay},
     {"none", WritableMode::kNone}}};
// Their values are host paths; an image has its own.
constexpr std::string_view kOfTheHost[] = {
    "PATH",        "HOME",         "TMPDIR",     "LD_LIBRARY_PATH",
    "VIRTUAL_ENV", "CONDA_PREFIX", "MODULEPATH", "LOADEDMODULES"};
constexpr int kEngineFailed = 255;  // the engine's own exit status if the container did not start
constexpr Millis kBuildTime{3'600'000};
constexpr CutLimits kErrorTail{20, 2'000};

// Returns true for variables that the engine itself may see: none that would put other host
// variables or folders into the container, and no secrets.
bool IsOfEngine(std::string_view name) {
  constexpr std::string_view kSession[] = {"USER", "LOGNAME", "XDG_RUNTIME_DIR",
                                           "DBUS_SESSION_BUS_ADDRESS"};
  constexpr std::string_view kOpening[] = {"ENV_", "_BIND", "_MOUNT", "_OVERLAY", "_HOME"};
  for (const std::string_view engine : {"APPTAINER", "SINGULARITY"}) {
    if (!name.starts_with(engine)) continue;
    const std::string_view rest = name.substr(engine.size());
    return std::none_of(std::begin(kOpening), std::end(kOpening),
                        [&](std::string_view opening) { return rest.starts_with(opening); });
  }
  return IsAllowedVariable(name) ||
         std::find(std::begin(kSession), std::end(kSession), name) != std::end(kSession);
}

bool IsUrl(std::string_view image) { return image.find("://") != std::string_view::npos; }

bool IsFuseError(const ExecResult& result) {
  if (result.status != kEngineFailed) return false;
  const std::string text = ToLowerAscii(result.err);
  return text.find("fuse") != std::string::npos || text.find("allow_other") != std::string::npos;
}

class Container final : public HostedBackend {
 public:
  Container(ContainerOptions options, std::string program)
      : options_(std::move(options)),
        program_(std::move(program)),
        place_{options_.folder,
               options_.timeout,
               options_.output_bytes,
               options_.host_environment,
               {"containall"}} {}

  Status Start(const SandboxSpec& spec) override {
    const std::string image = spec.image.empty() ? options_.image : spec.image;
    image_ = {.path = image};
    if (!IsUrl(image)) {
      if (!Exists(image)) {
        return MakeError(ErrorCode::kNotFound, "the image {} is not there", image);
      }
      DOSSIER_ASSIGN_OR_RETURN(image_.digest, options_.digests->Of(image));
    }
    DOSSIER_RETURN_IF_ERROR(CheckBinds(spec));
    DOSSIER_RETURN_IF_ERROR(MakeFolders(spec.workspace));
    spec_ = spec;
    if (UsesSandbox()) DOSSIER_RETURN_IF_ERROR(TakeSandbox());
    return {};
  }

  Result<ExecResult> Run(const ExecCommand& command, const CancelToken& cancel) override {
    if (spec_.workspace.empty()) return NotStarted();
    RuledCommand ruled = ApplyCommandRules(command, Facts().root);
    if (ruled.refusal) return std::move(*ruled.refusal);
    if (command.phase == Phase::kInstall && UsesSandbox() && !Exists(SandboxPath())) {
      DOSSIER_RETURN_IF_ERROR(BuildSandbox(cancel));
    }
    DOSSIER_ASSIGN_OR_RETURN(ExecResult result, RunOnce(ruled.command, cancel));
    if (!plain_ && IsFuseError(result)) {
      plain_ = true;
      DOSSIER_ASSIGN_OR_RETURN(result, RunOnce(ruled.command, cancel));
      ruled.note += ruled.note.empty() ? "" : "; ";
      ruled.note += "tried again without tmpfs and overlay after an error of FUSE";
    }
    result.note = std::move(ruled.note);
    return result;
  }

  Result<ImageRef> Snapshot(std::string_view name) override {
    if (spec_.workspace.empty()) return NotStarted();
    if (!UsesSandbox() || !Exists(SandboxPath())) return ImageRef{};
    const std::string path = fmt::format("{}/images/{}.sif", options_.folder, name);
    DOSSIER_RETURN_IF_ERROR(MakeFolders(options_.folder + "/images"));
    DOSSIER_RETURN_IF_ERROR(RemoveAll(path));
    DOSSIER_RETURN_IF_ERROR(Build({path, SandboxPath()}, {}));
    if (options_.sandbox == ContainerOptions::Sandbox::kRemove) {
      DOSSIER_RETURN_IF_ERROR(RemoveAll(SandboxPath()));
    }
    DOSSIER_ASSIGN_OR_RETURN(std::string digest, options_.digests->Of(path));
    return ImageRef{path, std::move(digest)};
  }

  SandboxFacts Facts() const override {
    return {.kind = options_.engine,
            .image = image_,
            .layers = place_.layers,
            .root = IsFakeRoot() ? SandboxFacts::Root::kYes : SandboxFacts::Root::kNo};
  }

  void Stop() noexcept override { spec_.workspace.clear(); }

  const HostPlace& place() const override { return place_; }
  const SandboxSpec& spec() const override { return spec_; }

  HostCommand HostLine(const ExecCommand& command) const override {
    HostCommand host{.argv = Limits()};
    Argv& argv = host.argv;
    argv.insert(argv.end(), {program_, "exec", "--containall", "--cleanenv", "--no-home"});
    const bool in_sandbox = InSandbox(command.phase);
    if (IsFakeRoot() && command.phase == Phase::kInstall) argv.emplace_back("--fakeroot");
    AddWritable(in_sandbox, argv);
    if (spec_.gpu == SandboxSpec::Gpu::kYes) argv.emplace_back("--nv");
    if (!HasNetwork(command.phase)) argv.insert(argv.end(), {"--net", "--network", "none"});
    argv.insert(argv.end(), {"--bind", fmt::format("{}:{}", spec_.workspace, spec_.mount)});
    for (const Bind& bind : spec_.binds) {
      const bool read_only = bind.access == Bind::Access::kRead;
      argv.insert(argv.end(), {"--bind", fmt::format("{}:{}{}", bind.host, bind.mount,
                                                     read_only ? ":ro" : "")});
    }
    argv.insert(argv.end(), {"--pwd", command.folder.empty()
                                          ? spec_.mount
                                          : fmt::format("{}/{}", spec_.mount, command.folder)});
    argv.insert(argv.end(), options_.extra_args.begin(), options_.extra_args.end());
    argv.push_back(in_sandbox ? SandboxPath() : image_.path);
    if (command.argv.empty()) {
      argv.insert(argv.end(), {"/bin/sh", "-c", command.command});
    } else {
      argv.insert(argv.end(), command.argv.begin(), command.argv.end());
    }
    host.environment = Variables(command);
    return host;
  }

 private:
  // The engine treats a colon as the end of a path and a comma as the end of a bind.
  Status CheckBinds(const SandboxSpec& spec) const {
    std::vector<std::string_view> paths = {spec.workspace};
    for (const Bind& bind : spec.binds) paths.push_back(bind.host);
    for (const std::string_view path : paths) {
      if (path.find_first_of(":,") == std::string_view::npos) continue;
      return MakeError(ErrorCode::kUnavailable,
                       "{}: {} cannot bind a path with a colon or a comma; give it another name",
                       path, options_.engine);
    }
    return {};
  }

  bool IsFakeRoot() const { return options_.root == ContainerOptions::Root::kFake; }
  bool HasNetwork(Phase phase) const {
    return spec_.network == NetworkPolicy::kAlways ||
           (spec_.network == NetworkPolicy::kPhase1 && phase == Phase::kInstall);
  }

  // If the worker has its own image, phase 1 is done.
  bool UsesSandbox() const {
    const bool wanted =
        options_.writable == WritableMode::kAuto || options_.writable == WritableMode::kSandbox;
    return wanted && spec_.image.empty() &&
           options_.worker_image == ContainerOptions::WorkerImage::kYes;
  }
  bool InSandbox(Phase phase) const {
    return phase == Phase::kInstall && UsesSandbox() && Exists(SandboxPath());
  }
  std::string SandboxPath() const { return options_.folder + "/sandbox"; }
  std::string OwnerPath() const { return options_.folder + "/sandbox.workspace"; }

  // A sandbox left by another node, or for an older workspace, cannot be used.
  Status TakeSandbox() const {
    const std::string mark = fmt::format("{}/{}", spec_.workspace, kInstallMark);
    const std::string owner = ReadFile(OwnerPath(), 1 << 16).value_or("");
    if (Exists(SandboxPath()) && owner == spec_.workspace && Exists(mark)) return {};
    DOSSIER_RETURN_IF_ERROR(RemoveAll(SandboxPath()));
    return RemoveAll(mark);
  }

  Status BuildSandbox(const CancelToken& cancel) {
    DOSSIER_RETURN_IF_ERROR(MakeFolders(options_.folder));
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(OwnerPath(), spec_.workspace));
    return Build({"--sandbox", SandboxPath(), image_.path}, cancel);
  }

  Status Build(Argv arguments, const CancelToken& cancel) const {
    ProcessSpec process{.argv = {program_, "build"},
                        .environment = options_.host_environment,
                        .timeout = kBuildTime};
    if (IsFakeRoot()) process.argv.emplace_back("--fakeroot");
    process.argv.insert(process.argv.end(), arguments.begin(), arguments.end());
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult result, RunProcess(process, cancel));
    if (result.exit_code == 0) return {};
    return MakeError(ErrorCode::kUnavailable, "{} build failed with status {}: {}", options_.engine,
                     result.exit_code, CutTail(result.err, kErrorTail));
  }

  // The container's processes inherit these limits.
  Argv Limits() const {
    const auto prlimit = FindProgram("prlimit");
    if (!prlimit) return {};
    return {*prlimit, fmt::format("--data={}", options_.memory_bytes),
            fmt::format("--cpu={}", options_.cpu_seconds)};
  }

  void AddWritable(bool in_sandbox, Argv& argv) const {
    if (in_sandbox) {
      argv.emplace_back("--writable");
      return;
    }
    if (plain_) return;
    const bool overlay = !options_.overlay.empty() && options_.writable != WritableMode::kTmpfs &&
                         options_.writable != WritableMode::kNone;
    const bool tmpfs = options_.tmpfs == ContainerOptions::Tmpfs::kYes &&
                       options_.writable != WritableMode::kOverlay &&
                       options_.writable != WritableMode::kNone;
    if (overlay) argv.insert(argv.end(), {"--overlay", options_.overlay});
    if (tmpfs) argv.emplace_back("--writable-tmpfs");
  }

  Argv Variables(const ExecCommand& command) const {
    EnvironmentList list(spec_.environment);
    for (const std::string_view name : kOfTheHost) list.Remove(name);
    list.Add(command.environment);
    const std::string_view prefix =
        options_.engine == "singularity" ? "SINGULARITYENV_" : "APPTAINERENV_";
    Argv variables = options_.host_environment;
    std::erase_if(variables,
                  [](const std::string& entry) { return !IsOfEngine(VariableName(entry)); });
    for (const std::string& entry : list.Take())
      variables.push_back(fmt::format("{}{}", prefix, entry));
    return variables;
  }

  Result<ExecResult> RunOnce(const ExecCommand& command, const CancelToken& cancel) const {
    HostCommand host = HostLine(command);
    const ProcessSpec process{.argv = std::move(host.argv),
                              .environment = std::move(host.environment),
                              .max_output = options_.output_bytes,
                              .timeout = command.time_limit.value_or(options_.timeout)};
    const auto begin = std::chrono::steady_clock::now();
    DOSSIER_ASSIGN_OR_RETURN(ProcessResult ran, RunProcess(process, cancel));
    ExecResult result;
    result.status = ran.signal != 0 ? 128 + ran.signal : ran.exit_code;
    result.signal = ran.signal;
    result.timed_out = ran.timed_out;
    result.out_bytes = ran.out.size() + ran.out_dropped;
    result.err_bytes = ran.err.size() + ran.err_dropped;
    result.out = std::move(ran.out);
    result.err = std::move(ran.err);
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.layers = Facts().layers;
    if (!HasNetwork(command.phase)) result.layers.emplace_back("network");
    if (command.on_output) command.on_output(result.out + result.err);
    return result;
  }

  const ContainerOptions options_;
  const std::string program_;
  const HostPlace place_;
  SandboxSpec spec_;
  ImageRef image_;
  bool plain_ = false;  // FUSE does not work here: no tmpfs, no overlay
};

}  // namespace

Result<WritableMode> FindWritableMode(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [known, mode] : kModes) {
    if (known == name) return mode;
    names.push_back(known);
  }
  return MakeError(ErrorCode::kConfig, "exec.writable_mode {}: it must be {}", name,
                   OneOf(name, names));
}

Result<std::unique_ptr<HostedBackend>> MakeContainerBackend(ContainerOptions options) {
  auto program = FindProgram(options.engine);
  if (!program) {
    return MakeError(ErrorCode::kUnavailable,
                     "{} was looked for on PATH and not found; `--backend local` works without it",
                     options.engine);
  }
  if (options.image.empty()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the backend {} needs an image: --image FILE or exec.singularity_image",
                     options.engine);
  }
  return std::make_unique<Container>(std::move(options), std::move(*program));
}

Status CheckSameImage(std::string_view before, const ImageRef& now) {
  const std::string digest = now.digest.empty() ? "no digest" : "sha256:" + now.digest;
  if (before == digest) return {};
  return MakeError(
      ErrorCode::kUnavailable,
      "the image {} has {}, but the run began with {}: give it the image back, or start "
      "a new run",
      now.path, digest, before);
}

Result<std::string> FileDigests::Of(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (!file.valid() || fstat(file.get(), &info) != 0) return MakeErrnoError(errno, path);
  if (S_ISDIR(info.st_mode)) return std::string();
  const std::string key =
      fmt::format("{}\n{}\n{}.{}", path, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  Sha256 hash;
  std::vector<char> block(1 << 20);
  while (true) {
    const ssize_t got = read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return MakeErrnoError(errno, path);
    if (got == 0) break;
    hash.Update({block.data(), static_cast<std::size_t>(got)});
  }
  return known_[key] = hash.Hex();
}

}  // namespace dossier::research
