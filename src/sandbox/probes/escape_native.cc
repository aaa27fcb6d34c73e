#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files/file.h"
#include "sandbox/probes/escape.h"

namespace dossier::sandbox {
namespace {

// The result that a session's process sends, in one write.
struct NativeVerdict {
  enum Kind : int { kRefused, kWorked, kNoLock } kind = kNoLock;
  int number = 0;
  char message[400] = {};
};

NativeVerdict LockAndTry(IsolationPlan& plan, const NativeProbe& probe, int out) {
  SessionLock lock;
  lock.keep_fds = {out};
  NativeVerdict verdict;
  if (const auto report = plan.LockSession(lock); !report) {
    report.error().message.copy(verdict.message, sizeof(verdict.message) - 1);
    return verdict;
  }
  errno = 0;
  verdict.kind = probe.succeeds() ? NativeVerdict::kWorked : NativeVerdict::kRefused;
  verdict.number = errno;
  return verdict;
}

Result<NativeResult> RunOne(IsolationPlan& plan, const NativeProbe& probe) {
  int ends[2];
  if (pipe(ends) != 0) return MakeErrnoError(errno, "pipe");
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  DOSSIER_ASSIGN_OR_RETURN(const pid_t pid, plan.Fork());
  if (pid == 0) {
    const NativeVerdict verdict = LockAndTry(plan, probe, write_end.get());
    _exit(write(write_end.get(), &verdict, sizeof(verdict)) == sizeof(verdict) ? 0 : 1);
  }
  write_end.Reset();
  NativeVerdict verdict;
  const bool told = read(read_end.get(), &verdict, sizeof(verdict)) == sizeof(verdict);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  NativeResult result{.name = probe.name};
  if (told && verdict.kind == NativeVerdict::kNoLock) {
    return MakeError(ErrorCode::kUnavailable, "{}", verdict.message);
  }
  result.refused = told ? verdict.kind == NativeVerdict::kRefused : WIFSIGNALED(status);
  result.how = !told ? fmt::format("signal {}", WIFSIGNALED(status) ? WTERMSIG(status) : 0)
               : result.refused ? fmt::format("errno {}", verdict.number)
                                : "it worked";
  return result;
}

// Runs in the child that acts as the zygote. Writes a line per probe: refused or not, and how.
Status RunAll(const IsolationOptions& options, std::span<const NativeProbe> probes, int out) {
  IsolationPlan plan(options);
  DOSSIER_RETURN_IF_ERROR(plan.PrepareZygote());
  DOSSIER_RETURN_IF_ERROR(plan.FinishZygote());
  for (const NativeProbe& probe : probes) {
    DOSSIER_ASSIGN_OR_RETURN(const NativeResult result, RunOne(plan, probe));
    DOSSIER_RETURN_IF_ERROR(
        WriteAll(out, fmt::format("{} {}\n", result.refused ? 'r' : 'w', result.how)));
  }
  return {};
}

}  // namespace

Result<std::vector<NativeResult>> RunNativeProbes(const IsolationOptions& options,
                                                  std::span<const NativeProbe> probes) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return MakeErrnoError(errno, "pipe");
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t zygote = fork();
  if (zygote < 0) return MakeErrnoError(errno, "fork");
  if (zygote == 0) {
    const Status done = RunAll(options, probes, write_end.get());
    if (!done) (void)WriteAll(write_end.get(), "e " + done.error().message + "\n");
    _exit(0);
  }
  write_end.Reset();
  const std::string text = ReadAll(read_end.get(), "probes").value_or("");
  while (waitpid(zygote, nullptr, 0) < 0 && errno == EINTR) continue;
  std::vector<NativeResult> results;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string how = text.substr(at + 2, end - at - 2);
    if (text[at] == 'e') return MakeError(ErrorCode::kUnavailable, "{}", how);
    if (results.size() == probes.size()) break;
    results.push_back({probes[results.size()].name, text[at] == 'r', how});
  }
  if (results.size() == probes.size()) return results;
  return MakeError(ErrorCode::kUnavailable,
                   "sandbox: the native attempts ended early, after {} of {}", results.size(),
                   probes.size());
}

// The native probes by attempt. Their arguments would have an effect without walls.

namespace {

constexpr long kX32Bit = 0x40000000;

pid_t Outside() {
  // 0 in a pid namespace: then the process can only name itself.
  const pid_t parent = getppid();
  return parent > 0 ? parent : getpid();
}

bool TraceParent() { return ptrace(PTRACE_SEIZE, Outside(), nullptr, nullptr) == 0; }
bool BeTraced() { return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0; }
bool ReadOtherMemory() {
  char byte = 0;
  const iovec local{&byte, 1}, remote{&byte, 1};
  return process_vm_readv(Outside(), &local, 1, &remote, 1, 0) == 1;
}
bool TakeDescriptor() {
  const long process = syscall(SYS_pidfd_open, Outside(), 0);
  return process >= 0 && syscall(SYS_pidfd_getfd, process, 0, 0) >= 0;
}
bool TakeDescriptorBare() { return syscall(SYS_pidfd_getfd, 0, 0, 0) >= 0; }

bool NewUserNamespace() { return unshare(CLONE_NEWUSER) == 0; }
bool NewMountNamespace() { return unshare(CLONE_NEWNS) == 0; }
bool CloneNamespace() {
  const long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) _exit(0);
  return pid > 0;
}
bool JoinNamespace() { return setns(0, 0) == 0; }
bool MountTmpfs() { return mount("x", "/tmp", "tmpfs", 0, nullptr) == 0; }
bool Unmount() { return umount2("/tmp", MNT_DETACH) == 0; }
bool PivotRoot() { return syscall(SYS_pivot_root, "/tmp", "/tmp") == 0; }
bool OpenTree() { return syscall(SYS_open_tree, AT_FDCWD, "/", 0) >= 0; }
bool Bpf() {
  bpf_attr attributes = {};
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = attributes.value_size = 4;
  attributes.max_entries = 1;
  return syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof(attributes)) >= 0;
}
bool PerfEvent() {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.exclude_kernel = 1;
  return syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0) >= 0;
}
bool UserFault() { return syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */) >= 0; }
bool SessionKeyring() {
  return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1) >= 0;
}
bool AddKey() { return syscall(SYS_add_key, "user", "x", "y", 1, KEY_SPEC_PROCESS_KEYRING) >= 0; }
bool IoUring() {
  io_uring_params parameters = {};
  return syscall(SYS_io_uring_setup, 1, &parameters) >= 0;
}
bool Call32Bit() {
  long result = 20;  // getpid in the 32-bit table
  asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  return result > 0;
}
bool CallX32() { return syscall(kX32Bit | SYS_getpid) > 0; }
bool CallX32Read() { return syscall(kX32Bit | SYS_socket, AF_INET, SOCK_STREAM, 0) >= 0; }
bool Personality() { return syscall(SYS_personality, 0xffffffff) >= 0; }
bool NegativeCall() { return syscall(-1) >= 0; }

bool ExecutableMap() {
  return mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
         MAP_FAILED;
}
bool MakeExecutable() {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}
bool RaiseLimit() {
  const rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  return setrlimit(RLIMIT_DATA, &none) == 0;
}
bool RaiseLimitOld() {
  const rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  return syscall(SYS_setrlimit, RLIMIT_NOFILE, &none) == 0;
}
bool BeDumpable() { return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0; }
bool ForgetParent() { return prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) == 0; }
bool BeSubreaper() { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0; }
bool KeepCapabilities() { return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0; }
bool NewFilter() {
  sock_filter allow[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog program = {1, allow};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}
bool NewFilterByPrctl() {
  sock_filter allow[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog program = {1, allow};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

// Writes a program to /tmp and makes it executable, if possible.
bool ExecuteFile() {
  const int fd = open("/tmp/program", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  constexpr char kScript[] = "#!/bin/true\n";
  if (fd < 0 || write(fd, kScript, sizeof(kScript) - 1) < 0) return false;
  close(fd);
  char* const empty[] = {nullptr};
  execve("/tmp/program", empty, empty);
  const bool reached = errno == ENOENT;  // the interpreter was searched for: the file itself ran
  syscall(SYS_execveat, AT_FDCWD, "/tmp/program", empty, empty, 0);
  const bool reached_again = errno == ENOENT;
  unlink("/tmp/program");  // works only where there is no wall
  return reached || reached_again;
}
bool MapFileExecutable() {
  const int fd = open("/tmp/library", O_RDWR | O_CREAT | O_CLOEXEC, 0755);
  if (fd < 0 || write(fd, "\xc3", 1) != 1) return false;
  unlink("/tmp/library");
  return mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED;
}

// A datagram socket needs no connect: every sendto names a receiver.
bool DatagramPair() {
  int pair[2];
  return socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0;
}
constexpr NativeProbe kMemory[] = {{"executable mmap", ExecutableMap},
                                   {"mprotect to executable", MakeExecutable}};
constexpr NativeProbe kTrace[] = {{"ptrace the parent", TraceParent},
                                  {"be traced", BeTraced},
                                  {"process_vm_readv", ReadOtherMemory},
                                  {"pidfd_getfd", TakeDescriptor},
                                  {"pidfd_getfd of any number", TakeDescriptorBare}};
constexpr NativeProbe kUnshare[] = {{"unshare user", NewUserNamespace},
                                    {"unshare mount", NewMountNamespace},
                                    {"clone into a namespace", CloneNamespace}};
constexpr NativeProbe kSetns[] = {{"setns", JoinNamespace}};
constexpr NativeProbe kMount[] = {
    {"mount", MountTmpfs}, {"umount", Unmount}, {"pivot_root", PivotRoot}, {"open_tree", OpenTree}};
constexpr NativeProbe kBpf[] = {{"bpf", Bpf}};
constexpr NativeProbe kPerf[] = {{"perf_event_open", PerfEvent}, {"userfaultfd", UserFault}};
constexpr NativeProbe kKeys[] = {{"keyctl", SessionKeyring}, {"add_key", AddKey}};
constexpr NativeProbe kRing[] = {{"io_uring_setup", IoUring}};
constexpr NativeProbe kOtherTables[] = {{"32-bit call", Call32Bit},
                                        {"x32 call", CallX32},
                                        {"x32 socket", CallX32Read},
                                        {"call number -1", NegativeCall},
                                        {"personality", Personality}};
constexpr NativeProbe kLimits[] = {{"prlimit64", RaiseLimit}, {"setrlimit", RaiseLimitOld}};
constexpr NativeProbe kFlags[] = {
    {"dumpable", BeDumpable},      {"parent's signal", ForgetParent},
    {"subreaper", BeSubreaper},    {"keep capabilities", KeepCapabilities},
    {"another filter", NewFilter}, {"another filter by prctl", NewFilterByPrctl}};
constexpr NativeProbe kExecute[] = {{"execve", ExecuteFile}, {"map executable", MapFileExecutable}};
constexpr NativeProbe kDatagram[] = {{"datagram pair", DatagramPair}};

}  // namespace

std::span<const NativeProbe> NativeProbes(std::string_view id) {
  const struct {
    std::string_view id;
    std::span<const NativeProbe> probes;
  } table[] = {{"E2.4", kExecute}, {"E3.4", kDatagram}, {"E5.8", kTrace},       {"E6.1", kUnshare},
               {"E6.2", kSetns},   {"E6.3", kMount},    {"E6.4", kBpf},         {"E6.5", kPerf},
               {"E6.6", kKeys},    {"E6.7", kRing},     {"E6.8", kOtherTables}, {"E7.2", kMemory},
               {"E7.3", kLimits},  {"E7.4", kFlags}};
  for (const auto& entry : table) {
    if (entry.id == id) return entry.probes;
  }
  return {};
}

}  // namespace dossier::sandbox
