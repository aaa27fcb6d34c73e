#include "sandbox/walls/isolation.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/files/file.h"
#include "sandbox/walls/cgroup.h"
#include "sandbox/walls/landlock.h"
#include "sandbox/walls/namespaces.h"
#include "sandbox/walls/process_layer.h"

namespace dossier::sandbox {
namespace {

// Above every process id and descriptor; no flag or command in a rule has this value.
constexpr std::uint32_t kFirstMarker = 0x7055'1e00;
constexpr std::size_t kPidMarker = 0;
constexpr std::size_t kFirstFdMarker = 1;
constexpr std::size_t kMarkers = kFirstFdMarker + SessionFilters::kMostPrivateFds;

constexpr int MarkerValue(std::size_t marker) { return static_cast<int>(kFirstMarker + marker); }

constexpr int kBlocksPerSession = 64;  // RLIMIT_CPU bounds the session, the host each block
constexpr int kOwnThreads = 2;         // main and bridge, in addition to the code's threads
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kUnknownBase = 256ull << 20;  // assumed if /proc is not available

}  // namespace

void SessionFilters::Form::Set(std::size_t marker, std::uint32_t value) {
  for (const std::size_t at : places[marker]) program[at].k = value;
}

SessionFilters::Form SessionFilters::MakeForm(FilterProgram program) {
  Form form{.program = std::move(program),
            .places = std::vector<std::vector<std::size_t>>(kMarkers)};
  for (std::size_t at = 0; at < form.program.size(); ++at) {
    const sock_filter& instruction = form.program[at];
    const std::uint32_t marker = instruction.k - kFirstMarker;
    const bool compares = instruction.code == (BPF_JMP | BPF_JEQ | BPF_K);
    if (compares && marker < kMarkers) form.places[marker].push_back(at);
  }
  return form;
}

SessionFilters SessionFilters::Assemble(const CodeNeeds& needs) {
  const auto common = [&needs](FileAccess files) {
    if (needs.files == FileAccess::kNone) files = FileAccess::kNone;
    return MakeForm(AssembleFilter(
        CommonRules(
            {.pid = MarkerValue(kPidMarker), .files = files, .executable = needs.executable}),
        FilterAction::Kill()));
  };
  std::vector<int> fds;
  for (std::size_t i = 0; i < kMostPrivateFds; ++i) fds.push_back(MarkerValue(kFirstFdMarker + i));
  SessionFilters filters;
  filters.walled_ = common(FileAccess::kReadWrite);
  filters.read_only_ = common(FileAccess::kReadOnly);
  filters.threads_ = MakeForm(AssembleFilter(ThreadRules(fds), FilterAction::Allow()));
  return filters;
}

Status SessionFilters::Fill(const Session& session) {
  std::vector<int> fds = session.private_fds;
  std::erase_if(fds, [](int fd) { return fd < 0; });
  if (fds.size() > kMostPrivateFds) {
    return MakeError(ErrorCode::kInternal, "{} private descriptors; the filter has places for {}",
                     fds.size(), kMostPrivateFds);
  }
  for (Form* form : {&walled_, &read_only_}) {
    form->Set(kPidMarker, static_cast<std::uint32_t>(session.pid));
  }
  // An unused place repeats a descriptor, or names an impossible one.
  fds.resize(kMostPrivateFds, fds.empty() ? -1 : fds.front());
  for (std::size_t i = 0; i < kMostPrivateFds; ++i) {
    threads_.Set(kFirstFdMarker + i, static_cast<std::uint32_t>(fds[i]));
  }
  return {};
}

struct IsolationPlan::State {
  IsolationOptions options;
  std::string cgroup_reason = "not asked for";
  Namespaces namespaces;
  IsolationReport report;      // results of the zygote so far
  int* tid_address = nullptr;  // where glibc stores the main thread's id
  bool in_session = false;     // EnterSession was called
  SessionFilters filters;      // assembled once: a session only fills them in

  bool Disabled(std::string_view layer) const {
    return std::find(options.disabled_layers.begin(), options.disabled_layers.end(), layer) !=
           options.disabled_layers.end();
  }

  void Apply(std::string_view layer, const std::function<Result<std::string>()>& apply,
             IsolationReport& into) const {
    ApplyLayer(layer, options.disabled_layers, apply, into);
  }
};

namespace {

Result<std::string> ApplyProcess() {
  if (clearenv() != 0 || setenv("PATH", "/usr/bin:/bin", 1) != 0 || setenv("TZ", "UTC", 1) != 0 ||
      setenv("LANG", "C.UTF-8", 1) != 0) {
    return MakeErrnoError(errno, "environment");
  }
  return LeaveRoot();
}

Result<std::string> ApplyFlags() {
  DOSSIER_RETURN_IF_ERROR(SetFlags());
  DOSSIER_RETURN_IF_ERROR(DropAllCapabilities());
  return std::string();
}

}  // namespace

IsolationPlan::IsolationPlan(IsolationOptions options) : state_(std::make_unique<State>()) {
  state_->report.mode = options.mode;
  state_->report.limits = options.limits;
  state_->report.worker = options.worker;
  state_->filters = SessionFilters::Assemble(options.needs);
  state_->options = std::move(options);
}
IsolationPlan::~IsolationPlan() = default;
IsolationPlan::IsolationPlan(IsolationPlan&&) noexcept = default;
IsolationPlan& IsolationPlan::operator=(IsolationPlan&&) noexcept = default;

const IsolationOptions& IsolationPlan::options() const { return state_->options; }
const SessionFilters& IsolationPlan::filters() const { return state_->filters; }

Status IsolationPlan::PrepareZygote() {
  State& state = *state_;
  // Without /proc there are no namespaces; Enter reports that.
  (void)state.namespaces.OpenProc();
  state.Apply("process", ApplyProcess, state.report);
  DOSSIER_RETURN_IF_ERROR(CheckRequired(state.report));
  state.cgroup_reason = state.Disabled("cgroup") ? "switched off" : CgroupReason();
  const auto enter = [&]() -> Result<std::string> {
    DOSSIER_RETURN_IF_ERROR(
        state.namespaces.Enter({state.options.read_folders, state.options.load_folders}));
    return std::string();
  };
  state.Apply("namespaces", enter, state.report);
  if (!state.namespaces.entered() && chdir("/") != 0) return MakeErrnoError(errno, "chdir /");
  // Not in every kernel. Without it, only raise() in a session's main thread uses a wrong id.
  if (prctl(PR_GET_TID_ADDRESS, &state.tid_address) != 0) state.tid_address = nullptr;
  return {};
}

Status IsolationPlan::FinishZygote() { return state_->namespaces.CloseLoadFolders(); }

std::uint64_t IsolationPlan::DataMemory() const { return state_->namespaces.DataMemory(); }

unsigned long IsolationPlan::CloneFlags() const {
  return state_->namespaces.entered() ? kSessionFlags : 0;
}

Result<pid_t> IsolationPlan::Fork() const {
  int* tid = state_->tid_address;
  const unsigned long flags =
      CloneFlags() | SIGCHLD | (tid != nullptr ? CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID : 0);
  const long pid = syscall(__NR_clone, flags, nullptr, nullptr, tid, 0);
  if (pid < 0) return MakeError(ErrorCode::kUnavailable, "clone: {}", std::strerror(errno));
  return static_cast<pid_t>(pid);
}

namespace {

// The steps of LockSession, in order. Each records its layers in the report.
class Locker {
 public:
  Locker(const SessionLock& lock, const Namespaces& namespaces, SessionFilters& filters,
         IsolationReport& report)
      : lock_(lock),
        namespaces_(namespaces),
        filters_(filters),
        report_(report),
        private_tmp_(report.Applied("namespaces")) {}

  // `now`: bytes in /tmp.
  Result<std::string> FitTmp(std::uint64_t now) const {
    if (now != report_.limits.tmp) {
      DOSSIER_RETURN_IF_ERROR(namespaces_.ResizeTmp(report_.limits.tmp));
    }
    return std::string();
  }

  Status CloseDescriptors() const {
    std::vector<int> keep = lock_.private_fds;
    keep.insert(keep.end(), lock_.keep_fds.begin(), lock_.keep_fds.end());
    keep.push_back(lock_.bridge_fd);
    return CloseOtherDescriptors(std::move(keep));
  }

  Result<std::string> ApplyResourceLimits(std::uint64_t measured) const {
    const Limits& limits = report_.limits;
    const Millis cpu =
        lock_.session_cpu.count() > 0 ? lock_.session_cpu : limits.cpu * kBlocksPerSession;
    ResourceLimits values;
    values.data = (lock_.base_memory != 0 ? lock_.base_memory : measured) + lock_.context_memory +
                  limits.memory;
    values.cpu_seconds = static_cast<std::uint64_t>((cpu.count() + 999) / 1000);
    // One page more than the size of /tmp, so that a full /tmp gives ENOSPC, not EFBIG.
    values.file_size = private_tmp_ ? limits.tmp + kPage : 0;
    values.files = static_cast<std::uint64_t>(limits.files);
    if (private_tmp_) values.threads = static_cast<std::uint64_t>(limits.threads + kOwnThreads);
    DOSSIER_RETURN_IF_ERROR(SetResourceLimits(values));
    return fmt::format("{} MiB data", *values.data >> 20);
  }

  Result<std::string> ApplyLandlock(const IsolationOptions& options) const {
    DOSSIER_ASSIGN_OR_RETURN(const int abi, LandlockAbi());
    FileRules rules;
    if (options.needs.files != FileAccess::kNone) {
      rules.read = options.read_folders;
      if (private_tmp_) rules.write.push_back("/tmp");
    }
    DOSSIER_RETURN_IF_ERROR(RestrictFiles(rules));
    return fmt::format("ABI {}", abi);
  }

  Result<std::string> ApplySeccomp() const {
    // With landlock or in a new root, files are already walled off.
    const bool walled = report_.Applied("landlock") || report_.Applied("namespaces");
    DOSSIER_RETURN_IF_ERROR(ProbeSeccomp());
    DOSSIER_RETURN_IF_ERROR(FillFilters());
    const FileAccess files = walled ? FileAccess::kReadWrite : FileAccess::kReadOnly;
    DOSSIER_RETURN_IF_ERROR(LoadFilter(filters_.common(files), FilterScope::kAllThreads));
    return std::string();
  }

  Result<std::string> ApplyThreadFilter() const {
    DOSSIER_RETURN_IF_ERROR(FillFilters());
    DOSSIER_RETURN_IF_ERROR(LoadFilter(filters_.threads(), FilterScope::kThisThread));
    return std::string();
  }

 private:
  // Both layers need it, and each can be disabled.
  Status FillFilters() const {
    std::vector<int> fds = lock_.private_fds;
    fds.push_back(lock_.bridge_fd);
    return filters_.Fill({.pid = getpid(), .private_fds = std::move(fds)});
  }

  const SessionLock& lock_;
  const Namespaces& namespaces_;
  SessionFilters& filters_;
  IsolationReport& report_;
  const bool private_tmp_;
};

}  // namespace

void IsolationPlan::EnterSession() {
  State& state = *state_;
  state.in_session = true;
  if (!state.namespaces.entered()) return;
  const auto enter = [&]() -> Result<std::string> {
    // Only a clone with CloneFlags makes the first process of a namespace.
    if (getpid() != 1) return MakeError(ErrorCode::kFailed, "not cloned with the plan's flags");
    DOSSIER_RETURN_IF_ERROR(state.namespaces.EnterSession(state.options.limits.tmp));
    return std::string();
  };
  state.Apply("namespaces", enter, state.report);
}

Result<IsolationReport> IsolationPlan::LockSession(const SessionLock& lock) {
  State& state = *state_;
  std::uint64_t measured = lock.base_memory == 0 ? DataMemory() : 0;
  if (measured == 0) measured = kUnknownBase;
  if (!state.in_session) EnterSession();
  IsolationReport report = state.report;
  if (lock.limits != nullptr) report.limits = *lock.limits;
  Locker locker(lock, state.namespaces, state.filters, report);
  if (report.Applied("namespaces")) {
    state.Apply("namespaces", [&] { return locker.FitTmp(state.options.limits.tmp); }, report);
  }
  state.namespaces.CloseProc();
  if (report.Applied("process")) {
    if (const Status closed = locker.CloseDescriptors(); !closed) {
      report.Set("process", LayerState::kFailed, closed.error().message);
    }
  }
  state.Apply("flags", ApplyFlags, report);
  state.Apply("rlimits", [&] { return locker.ApplyResourceLimits(measured); }, report);
  state.Apply("landlock", [&] { return locker.ApplyLandlock(state.options); }, report);
  DOSSIER_RETURN_IF_ERROR(CheckRequired(report));
  if (lock.start_bridge) DOSSIER_RETURN_IF_ERROR(lock.start_bridge());
  state.Apply("seccomp", [&] { return locker.ApplySeccomp(); }, report);
  state.Apply("seccomp-threads", [&] { return locker.ApplyThreadFilter(); }, report);
  report.Set("cgroup", LayerState::kUnavailable, state.cgroup_reason);
  DOSSIER_RETURN_IF_ERROR(CheckRequired(report));
  return report;
}

Status IsolationPlan::RunSelfTest() {
  DOSSIER_ASSIGN_OR_RETURN(SelfTest test, SelfTest::Start(*this));
  return test.Finish();
}

namespace {

bool CanOpen(int) { return UniqueFd(open("/etc/passwd", O_RDONLY | O_CLOEXEC)).valid(); }
bool CanMakeSocket(int) { return UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)).valid(); }
bool CanExecute(int) {
  char* const empty[] = {nullptr};
  execve("/nonexistent", empty, empty);
  return errno != EPERM && errno != EACCES;  // the kernel went as far as looking for the file
}
bool CanTrace(int) { return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0; }
bool CanFork(int) {
  const long pid = syscall(__NR_clone, SIGCHLD, nullptr, nullptr, nullptr, 0);
  if (pid == 0) _exit(0);
  return pid > 0;
}
bool CanWriteBridge(int bridge) { return write(bridge, "x", 1) == 1; }

struct Attempt {
  std::string_view did;              // "the self test …"
  std::string_view layer, or_layer;  // what refuses it
  bool (*succeeds)(int bridge);
};

constexpr Attempt kAttempts[] = {
    {"opened /etc/passwd", "landlock", "namespaces", CanOpen},
    {"made a socket", "seccomp", "", CanMakeSocket},
    {"reached execve", "seccomp", "", CanExecute},
    {"could be traced", "seccomp", "", CanTrace},
    {"forked", "seccomp", "", CanFork},
    {"wrote to the bridge", "seccomp-threads", "", CanWriteBridge},
};

// Runs in the child. Returns "" if all is well.
std::string LockAndTry(IsolationPlan& plan, int bridge, int answer) {
  SessionLock lock;
  lock.bridge_fd = bridge;
  lock.keep_fds = {answer};
  const auto report = plan.LockSession(lock);
  if (!report) return report.error().message;
  for (const Attempt& attempt : kAttempts) {
    const bool walled = report->Applied(attempt.layer) || report->Applied(attempt.or_layer);
    if (!walled || !attempt.succeeds(bridge)) continue;
    return fmt::format(
        "sandbox: the self test {} although {} is applied; this kernel does not "
        "hold what it says",
        attempt.did, attempt.layer);
  }
  return "";
}

}  // namespace

Result<SelfTest> SelfTest::Start(IsolationPlan& plan) {
  int bridge[2], answer[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bridge) != 0) {
    return MakeErrnoError(errno, "socketpair");
  }
  const UniqueFd host_side(bridge[0]), worker_side(bridge[1]);
  if (pipe2(answer, O_CLOEXEC) != 0) return MakeErrnoError(errno, "pipe");
  UniqueFd read_end(answer[0]), write_end(answer[1]);
  DOSSIER_ASSIGN_OR_RETURN(const pid_t pid, plan.Fork());
  if (pid == 0) {
    const std::string message = LockAndTry(plan, worker_side.get(), write_end.get());
    _exit(WriteAll(write_end.get(), message) ? 0 : 1);
  }
  return SelfTest(pid, std::move(read_end));
}

Status SelfTest::Finish() {
  const auto message = ReadAll(answer_.get(), "self test");
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  DOSSIER_RETURN_IF_ERROR(message);
  if (!message->empty()) return MakeError(ErrorCode::kUnavailable, "{}", *message);
  if (status == 0) return {};
  return MakeError(ErrorCode::kUnavailable, "sandbox: the self test ended by {} {}",
                   WIFSIGNALED(status) ? "signal" : "exit code",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace dossier::sandbox
