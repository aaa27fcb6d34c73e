#include "sandbox/walls/self_check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/files/file.h"

namespace dossier::sandbox {
namespace {

bool CanOpen(int) { return UniqueFd(open("/etc/passwd", O_RDONLY | O_CLOEXEC)).valid(); }
bool CanMakeSocket(int) { return UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)).valid(); }
bool CanExecute(int) {
  char* const empty[] = {nullptr};
  execve("/nonexistent", empty, empty);
  return errno != EPERM && errno != EACCES;  // the kernel went as far as looking for it
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

// Runs in the child. Empty: all is well.
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
