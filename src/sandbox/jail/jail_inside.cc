// The forked side of RunJailed: walls, then the program. malloc is safe after fork() in glibc, even
// in a host with threads; nothing here takes another lock or reads the environment.

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/json/json.h"
#include "base/process/child.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "sandbox/jail/jail_plan.h"
#include "sandbox/walls/landlock.h"
#include "sandbox/walls/process_layer.h"
#include "sandbox/walls/process_tree.h"
#include "sandbox/walls/seccomp_policy.h"

namespace dossier::sandbox {
namespace {

constexpr int kScopeAbi = 6;  // since this ABI landlock keeps signals and abstract sockets inside
constexpr Millis kNoDeadline{std::numeric_limits<std::int64_t>::max() / 2};  // in the report
constexpr const char* kDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                    "/dev/urandom"};

std::string_view ValueOf(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return std::string_view(entry).substr(name.size() + 1);
    }
  }
  return {};
}

// Returns a name that is valid in a line of /etc/passwd.
std::string UserName(const std::vector<std::string>& environment) {
  const std::string_view given = ValueOf(environment, "USER");
  const auto plain = [](char c) { return IsLower(c) || IsDigit(c) || c == '_' || c == '-'; };
  const bool usable = !given.empty() && given.size() <= 32 && given != "root" &&
                      std::all_of(given.begin(), given.end(), plain);
  return usable ? std::string(given) : "user";
}

class Inside {
 public:
  explicit Inside(const JailPlan& plan) : plan_(plan), spec_(*plan.spec) {
    report_.mode = spec_.mode;
    report_.worker = plan.argv[0];
    Limits& limits = report_.limits;
    limits.silence = spec_.limits.wall.value_or(kNoDeadline);
    limits.cpu = spec_.limits.cpu;
    limits.memory = spec_.limits.memory;
    limits.output = spec_.limits.output;
    limits.tmp = spec_.limits.tmp;
    limits.threads = spec_.limits.processes;
    limits.files = spec_.limits.files;
  }

  [[noreturn]] void Run() {
    (void)setsid();     // no terminal, and no signals from one
    HideCommandLine();  // the program sees the keeper in its /proc
    ResetSignals();
    Must(TakeDescriptors());
    (void)namespaces_.OpenProc();
    EnterCgroup();
    nice_ = getpriority(PRIO_PROCESS, 0);
    if (geteuid() == 0) RaisePriority();  // for the keeper, which no longer has the right to do it
    Apply("process", [&] { return LeaveRoot(plan_.ids); });
    Apply("namespaces", [&] { return EnterNamespaces(); });
    if (!spec_.overlays.empty()) Must(CheckOverlays());
    if (Walled()) {
      const pid_t keeper = fork();
      if (keeper < 0) Fail(ErrnoError(errno, "sandbox: fork"));
      if (keeper > 0) WaitFor(keeper);
    }
    Keep();
  }

 private:
  bool Walled() const { return report_.Applied("namespaces"); }

  // True if internet addresses may be used: the machine's, or those of a private network.
  bool HasInternet() const {
    return spec_.network == JailNetwork::kAny ||
           (spec_.network == JailNetwork::kLoopback && Walled());
  }

  std::vector<std::string> Devices() const {
    std::vector<std::string> devices(std::begin(kDevices), std::end(kDevices));
    devices.insert(devices.end(), spec_.devices.begin(), spec_.devices.end());
    return devices;
  }

  bool Disabled(std::string_view layer) const {
    const auto& disabled = spec_.disabled_layers;
    return std::find(disabled.begin(), disabled.end(), layer) != disabled.end();
  }

  void Apply(std::string_view layer, const std::function<Result<std::string>()>& apply) {
    ApplyLayer(layer, spec_.disabled_layers, apply, report_);
  }

  [[noreturn]] void Fail(const Error& error) const {
    const JsonObject line{
        {"error", JsonObject{{"code", static_cast<int>(error.code)}, {"message", error.message}}}};
    (void)WriteAll(plan_.report, ToJson(line) + "\n");
    _exit(127);
  }
  void Must(const Status& status) const {
    if (!status) Fail(status.error());
  }

  static void ResetSignals() {
    for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
  }

  // Also closes those that other threads of the host opened, close-on-exec or not.
  Status TakeDescriptors() const {
    if (dup2(plan_.in, 0) < 0 || dup2(plan_.out, 1) < 0 || dup2(plan_.err, 2) < 0) {
      return MakeErrnoError(errno, "sandbox: descriptors");
    }
    return CloseOtherDescriptors({plan_.report, plan_.control, plan_.cgroup});
  }

  // The jail's own processes enter it too: a process outside could not move others.
  void EnterCgroup() {
    if (plan_.cgroup < 0) {
      cgroup_.reason = plan_.cgroup_reason;
      return;
    }
    const Status joined = Cgroup::Join(plan_.cgroup);
    close(plan_.cgroup);
    cgroup_.state = joined ? LayerState::kApplied : LayerState::kUnavailable;
    cgroup_.reason = joined ? fmt::format("{} processes, {} MiB", spec_.limits.processes,
                                          spec_.limits.memory >> 20)
                            : joined.error().message;
  }

  RootSpec Root() const {
    RootSpec root;
    root.read = plan_.system;
    root.read.insert(root.read.end(), spec_.read.begin(), spec_.read.end());
    root.write = spec_.write;
    for (const JailMount& mount : spec_.mounts) {
      root.mounts.push_back({mount.host, mount.inside,
                             mount.access == JailMount::Access::kRead
                                 ? RootSpec::Mount::Access::kRead
                                 : RootSpec::Mount::Access::kWrite});
    }
    for (const JailOverlay& overlay : spec_.overlays) {
      root.overlays.push_back({overlay.place, overlay.lower, overlay.upper, overlay.work});
    }
    for (const ControlFiles::Path& file : plan_.control_files.found()) {
      root.guards.push_back({file.host, file.inside});
    }
    root.devices = Devices();
    root.load = {"/proc"};  // replaced by the jail's own
    root.folders = {"/proc", "/dev/shm", "/tmp"};
    root.links = {{"/dev/fd", "/proc/self/fd"},
                  {"/dev/stdin", "/proc/self/fd/0"},
                  {"/dev/stdout", "/proc/self/fd/1"},
                  {"/dev/stderr", "/proc/self/fd/2"}};
    root.network = spec_.network == JailNetwork::kNone       ? RootSpec::Network::kOwn
                   : spec_.network == JailNetwork::kLoopback ? RootSpec::Network::kLoopback
                                                             : RootSpec::Network::kShared;
    // Programs that run as root assume that they may do everything.
    if (geteuid() != 0) root.inner_uid = geteuid();
    if (getegid() != 0) root.inner_gid = getegid();
    if (spec_.user == JailUser::kRoot) root.inner_uid = root.inner_gid = 0;
    const std::string name = UserName(spec_.environment);
    root.files = {{"/etc/passwd",
                   fmt::format("{}:x:{}:{}::/tmp:/bin/sh\n", name, root.inner_uid, root.inner_gid)},
                  {"/etc/group", fmt::format("{}:x:{}:\n", name, root.inner_gid)}};
    // MPI looks up the host name.
    if (spec_.network == JailNetwork::kLoopback) {
      root.files.push_back({"/etc/hosts", fmt::format("127.0.0.1 localhost {}\n", kInnerHost)});
    }
    return root;
  }

  Result<std::string> EnterNamespaces() {
    DOSSIER_RETURN_IF_ERROR(namespaces_.Enter(Root()));
    if (unshare(CLONE_NEWPID) != 0) Fail(ErrnoError(errno, "sandbox: pid namespace"));
    return std::string(spec_.network == JailNetwork::kAny ? "network shared" : "");
  }

  // A caller that requests overlays needs them, so there is no fallback.
  Status CheckOverlays() {
    const Layer* namespaces = report_.Find("namespaces");
    if (!Walled()) {
      return MakeError(ErrorCode::kUnavailable, "{}",
                       namespaces->reason.starts_with("sandbox: no overlay")
                           ? namespaces->reason
                           : "sandbox: no overlay without namespaces: " + namespaces->reason);
    }
    std::vector<std::string_view> places;
    for (const JailOverlay& overlay : spec_.overlays) places.push_back(overlay.place);
    report_.Set("overlay", LayerState::kApplied, fmt::format("{}", fmt::join(places, ", ")));
    return {};
  }

  [[noreturn]] void WaitFor(pid_t keeper) const {
    HideMemory();
    for (const int fd : {0, 1, 2, plan_.report, plan_.control}) close(fd);
    while (waitpid(keeper, nullptr, 0) < 0 && errno == EINTR) continue;
    _exit(0);
  }

  [[noreturn]] void Keep() {
    KeepPriority();
    KeeperSpec keeper{.limits = spec_.limits, .control = plan_.control, .report = plan_.report};
    if (Walled()) {
      prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
      Must(namespaces_.EnterJail({.tmp_bytes = spec_.limits.tmp,
                                  .processes = Disabled("pid_max") ? 0 : spec_.limits.processes}));
    } else {
      keeper.tree = KeeperSpec::Tree::kSubreaper;
      prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
      MakeTmp();
    }
    const UniqueFd proc = namespaces_.OpenProcesses();
    has_proc_ = proc.valid() && faccessat(proc.get(), "self/stat", R_OK, 0) == 0;
    keeper.proc = has_proc_ ? proc.get() : -1;
    base_threads_ = Walled() || !has_proc_ ? 0 : ThreadsOfUser(proc.get(), geteuid());
    namespaces_.CloseProc();
    HideMemory();
    // The kernel lets it act on the program without capabilities too.
    Must(DropAllCapabilities());
    ChooseLimits(keeper);
    if (const Status root = CheckRoot(); !root) {
      if (!tmp_.empty()) (void)RemoveAll(tmp_);
      Fail(root.error());
    }
    KeeperReport made;
    keeper.look = [&] { SetAside(ControlFiles::Depth::kTop, made); };
    KeeperReport report = KeepProgram(keeper, [&] { Start(); });
    LowerPriority();  // the rest is ordinary work, and nothing is left to watch
    SetAside(ControlFiles::Depth::kAll, made);
    report.set_aside = made.set_aside;
    std::copy(std::begin(made.first_set_aside), std::end(made.first_set_aside),
              report.first_set_aside);
    if (!tmp_.empty()) (void)RemoveAll(tmp_);
    (void)WriteAll(plan_.control, {reinterpret_cast<const char*>(&report), sizeof(KeeperReport)});
    _exit(0);
  }

  // Decides which limits the kernel enforces and which the keeper does.
  void ChooseLimits(KeeperSpec& keeper) {
    const bool grouped = cgroup_.state == LayerState::kApplied;
    bound_ = grouped || ProcessLimitHolds();
    if (!bound_) keeper.processes = KeeperSpec::Processes::kCounted;
    if (grouped) keeper.memory = KeeperSpec::Memory::kByCgroup;
    if (!Walled()) return;  // there is neither a private /tmp nor shared memory by number then
    keeper.other_memory = [proc = keeper.proc] {
      return UsedBytes("/tmp") + UsedBytes("/dev/shm") + (proc >= 0 ? IpcBytes(proc) : 0);
    };
  }

  // Returns the used bytes of a file system in memory.
  static std::uint64_t UsedBytes(const char* place) {
    struct statvfs facts;
    if (statvfs(place, &facts) != 0) return 0;
    return (facts.f_blocks - facts.f_bfree) * facts.f_frsize;
  }

  // Root outside a user namespace must not run foreign code. And counting the whole machine's
  // processes from time to time does not limit root; in a pid namespace all end at once with its
  // first process.
  Status CheckRoot() const {
    if (spec_.mode == IsolationMode::kDegraded || (Walled() && (bound_ || has_proc_))) return {};
    const bool root = geteuid() == 0 && InInitialUserNamespace();
    if (!root && bound_) return {};
    return MakeError(
        ErrorCode::kUnavailable,
        "sandbox: nothing here limits the processes of root ({}); run as another user, in a folder "
        "of another user, or where user namespaces are allowed, or accept less with "
        "--sandbox=degraded",
        Walled() ? "no /proc" : report_.Find("namespaces")->reason);
  }

  void SetAside(ControlFiles::Depth depth, KeeperReport& report) const {
    const auto view = Walled() ? ControlFiles::View::kInside : ControlFiles::View::kHost;
    for (const std::string& line : plan_.control_files.SetAsideNew(view, depth)) {
      if (report.set_aside++ > 0) continue;
      line.copy(report.first_set_aside, sizeof(report.first_set_aside) - 1);
    }
  }

  void MakeTmp() {
    std::string path = "/tmp/dossier-jail-XXXXXX";
    if (mkdtemp(path.data()) != nullptr) tmp_ = path;
  }

  Result<std::string> ApplyFlags() const {
    DOSSIER_RETURN_IF_ERROR(SetFlags());
    DOSSIER_RETURN_IF_ERROR(DropAllCapabilities());
    return std::string();
  }

  Result<std::string> ApplyResourceLimits() const {
    const JailLimits& limits = spec_.limits;
    ResourceLimits values;
    values.cpu_seconds = static_cast<std::uint64_t>((limits.cpu.count() + 999) / 1000);
    values.file_size = limits.file_size;
    values.files = static_cast<std::uint64_t>(limits.files);
    // The kernel does not count root's processes; the keeper does.
    if (Walled() || has_proc_) {
      const int others = Walled() ? kOwnProcesses : base_threads_;
      values.threads = static_cast<std::uint64_t>(limits.processes + others);
    }
    DOSSIER_RETURN_IF_ERROR(SetResourceLimits(values));
    return fmt::format("{} MiB data{}", limits.memory >> 20,
                       bound_ ? "" : ", processes counted by the watchdog");
  }

  Result<std::string> ApplyLandlock() {
    DOSSIER_ASSIGN_OR_RETURN(const int abi, LandlockAbi());
    FileRules rules;
    rules.programs = plan_.system;
    rules.programs.insert(rules.programs.end(), spec_.read.begin(), spec_.read.end());
    rules.owned = spec_.write;
    for (const JailMount& mount : spec_.mounts) {
      auto& folders = mount.access == JailMount::Access::kRead ? rules.programs : rules.owned;
      folders.push_back(Walled() ? mount.inside : mount.host);
    }
    for (const JailOverlay& overlay : spec_.overlays) {
      (overlay.upper.empty() ? rules.programs : rules.owned).push_back(overlay.place);
    }
    rules.devices = Devices();
    if (Walled()) {
      rules.owned.insert(rules.owned.end(), {"/tmp", "/dev/shm"});
      rules.programs.insert(rules.programs.end(),
                            {"/proc", "/etc/passwd", "/etc/group", "/etc/hosts", "/dev"});
    } else if (!tmp_.empty()) {
      rules.owned.push_back(tmp_);
    }
    if (HasInternet()) rules.network = FileRules::Network::kAny;
    DOSSIER_RETURN_IF_ERROR(RestrictFiles(rules));
    scoped_ = abi >= kScopeAbi;
    return fmt::format("ABI {}", abi);
  }

  Result<std::string> ApplySeccomp() const {
    ProgramPolicy policy;
    if (HasInternet()) policy.network = ProgramPolicy::Network::kAny;
    const bool shared = spec_.network == JailNetwork::kAny && !scoped_;
    if (!Walled() || shared) policy.local_sockets = ProgramPolicy::LocalSockets::kPairsOnly;
    if (!Walled()) policy.ipc = ProgramPolicy::Ipc::kNone;
    if (!Walled() && !scoped_) policy.signals = ProgramPolicy::Signals::kNone;
    if (spec_.user == JailUser::kRoot) policy.ids = ProgramPolicy::Ids::kPretended;
    DOSSIER_RETURN_IF_ERROR(ProbeSeccomp());
    WatchPolicy watch{.keeper = getppid()};
    if (cgroup_.state != LayerState::kApplied) watch.memfds = WatchPolicy::Memfds::kNone;
    std::vector<FilterRule> rules = ProgramRules(policy);
    AppendWatchRules(watch, rules);
    DOSSIER_RETURN_IF_ERROR(LoadFilter(AssembleFilter(std::move(rules), FilterAction::Allow()),
                                       FilterScope::kThisThread));
    return std::string();
  }

  // Without namespaces nothing protects control files that are there.
  Status CheckNamedLayers() const {
    for (const std::string& name : spec_.required_layers) {
      if (report_.Applied(name)) continue;
      const Layer* layer = report_.Find(name);
      return MakeError(ErrorCode::kUnavailable, "sandbox: {} is required and not applied ({})",
                       name, layer != nullptr ? layer->reason : "no such layer");
    }
    const auto& found = plan_.control_files.found();
    if (Walled() || found.empty() || spec_.mode == IsolationMode::kDegraded) return {};
    return MakeError(ErrorCode::kUnavailable,
                     "sandbox: namespaces is required and not applied ({}): without it {} can be "
                     "changed",
                     report_.Find("namespaces")->reason, found.front().host);
  }

  // If mounts are at their host paths, a path below one is too.
  std::string WorkingFolder() const {
    if (Walled()) return plan_.folder;
    for (const JailMount& mount : spec_.mounts) {
      if (plan_.folder == mount.inside) return mount.host;
      if (plan_.folder.starts_with(mount.inside + "/")) {
        return mount.host + plan_.folder.substr(mount.inside.size());
      }
    }
    return plan_.folder;
  }

  // Runs in the child that becomes the program.
  [[noreturn]] void Start() {
    if (chdir(WorkingFolder().c_str()) != 0) {
      Fail(ErrnoError(errno, fmt::format("the working folder {} in the jail", plan_.folder)));
    }
    ResetSignals();
    // Its own process group: signals and priorities for the program's group do not affect us.
    (void)setpgid(0, 0);
    if (nice_ > 0) setpriority(PRIO_PROCESS, 0, nice_);
    Apply("flags", [&] { return ApplyFlags(); });
    Apply("rlimits", [&] { return ApplyResourceLimits(); });
    Apply("landlock", [&] { return ApplyLandlock(); });
    Must(CheckRequired(report_));
    Apply("seccomp", [&] { return ApplySeccomp(); });
    report_.Set(cgroup_.name, cgroup_.state, cgroup_.reason);
    Must(CheckRequired(report_));
    // Strict mode does not need it: without it, limits apply to each process separately.
    Apply("watchdog", [&]() -> Result<std::string> {
      if (has_proc_) return std::string();
      return MakeError(ErrorCode::kUnavailable, "no /proc to look at");
    });
    Must(CheckNamedLayers());
    AddGaps();
    Must(WriteAll(plan_.report, ToJson(JsonObject{{"report", report_.ToJson()}}) + "\n"));
    Execute();
  }

  // Adds gaps beyond those of single layers.
  void AddGaps() {
    const ControlFiles& control = plan_.control_files;
    if (!bound_ && !(Walled() && has_proc_)) {
      report_.gaps.emplace_back("the number of root's processes is not limited at once");
    }
    if (!Walled()) {
      report_.gaps.emplace_back("modes and times of the user's files can be changed");
      if (!control.found().empty()) {
        report_.gaps.emplace_back(
            ".git, .dossier and dossier.yml of the folders that may be written can be changed");
      }
    }
    if (!control.complete()) {
      report_.gaps.emplace_back(
          "the folders that may be written are too large to look for .git, .dossier and "
          "dossier.yml in all of them");
    }
  }

  [[noreturn]] void Execute() const {
    std::vector<std::string> environment = spec_.environment;
    if (!tmp_.empty() && ValueOf(environment, "TMPDIR").empty()) {
      environment.push_back("TMPDIR=" + tmp_);
    }
    std::vector<char*> arguments, variables;
    for (const std::string& text : plan_.argv) arguments.push_back(const_cast<char*>(text.c_str()));
    for (const std::string& text : environment)
      variables.push_back(const_cast<char*>(text.c_str()));
    arguments.push_back(nullptr);
    variables.push_back(nullptr);
    int reason = ENOENT;
    const std::vector<std::string> candidates = Candidates();
    // Last, because until here the process has the host's memory.
    if (report_.Applied("rlimits")) Must(SetDataLimit(spec_.limits.memory));
    for (const std::string& path : candidates) {
      execve(path.c_str(), arguments.data(), variables.data());
      if (errno != ENOENT && errno != ENOTDIR) reason = errno;
    }
    if (reason == ENOENT) {
      Fail(
          {ErrorCode::kNotFound, fmt::format("there is no program {} in the jail", plan_.argv[0])});
    }
    Fail(ErrnoError(reason, fmt::format("start {} in the jail", plan_.argv[0])));
  }

  std::vector<std::string> Candidates() const {
    const std::string& program = plan_.argv[0];
    if (program.find('/') != std::string::npos) return {program};
    const std::string_view path = ValueOf(spec_.environment, "PATH");
    std::vector<std::string> candidates;
    for (const std::string_view folder : Split(path.empty() ? "/usr/bin:/bin" : path, ':')) {
      if (folder.starts_with('/')) candidates.push_back(fmt::format("{}/{}", folder, program));
    }
    return candidates;
  }

  const JailPlan& plan_;
  const JailSpec& spec_;
  Namespaces namespaces_;
  IsolationReport report_;
  std::string tmp_;  // used if there is no private /tmp
  bool has_proc_ = false;
  Layer cgroup_{.name = "cgroup"};
  int nice_ = 0;          // the program's priority, whatever the keeper's
  bool bound_ = false;    // the kernel limits the number of processes
  bool scoped_ = false;   // landlock keeps signals inside
  int base_threads_ = 0;  // the user's threads outside the jail
};

}  // namespace

void RunInside(const JailPlan& plan) { Inside(plan).Run(); }

}  // namespace dossier::sandbox
