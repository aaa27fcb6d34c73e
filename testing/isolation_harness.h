// For tests: runs a function behind the walls, without an interpreter.
//
//   Locked locked = RunLocked(options, Identity::kUser, [](int bridge_fd) {
//     return std::string(socket(AF_INET, SOCK_STREAM, 0) < 0 ? "refused" : "made");
//   });
//   EXPECT_EQ(locked.text, "refused");
//
// A child plays the zygote, its child the session. Thread-safety: none.

#ifndef DOSSIER_TESTING_ISOLATION_HARNESS_H_
#define DOSSIER_TESTING_ISOLATION_HARNESS_H_

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "base/files/file.h"
#include "sandbox/walls/isolation.h"

namespace dossier::sandbox {

enum class Identity { kSame, kUser };  // kUser: a plain user, where the test runs as root

struct Locked {
  std::string text;   // what the function returned, or the error of a step before it
  int signal = 0;     // that ended the session
  int exit_code = 0;  // of the zygote; 3: a step before the function failed
  IsolationReport report;
};

using LockedBody = std::function<std::string(int bridge_fd)>;

namespace harness {

inline void BecomeUser() {
  constexpr uid_t kTestUser = 12345;
  if (geteuid() != 0) return;
  if (setresgid(kTestUser, kTestUser, kTestUser) != 0 ||
      setresuid(kTestUser, kTestUser, kTestUser) != 0) {
    _exit(99);
  }
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

inline void Send(int fd, const std::string& text) { (void)WriteAll(fd, text); }

[[noreturn]] inline void Session(IsolationPlan& plan, const LockedBody& body, int out, int bridge,
                                 const std::function<void(SessionLock&)>& adjust) {
  SessionLock lock;
  lock.bridge_fd = bridge;
  lock.keep_fds = {out};
  if (adjust) adjust(lock);
  const auto report = plan.LockSession(lock);
  if (!report) {
    Send(out, "\n" + report.error().message);
    _exit(3);
  }
  Send(out, ToJson(report->ToJson()) + "\n");
  Send(out, body(bridge));
  _exit(0);
}

[[noreturn]] inline void Zygote(IsolationOptions options, Identity identity, const LockedBody& body,
                                int out, int bridge, std::function<void(SessionLock&)> adjust) {
  if (identity == Identity::kUser) BecomeUser();
  IsolationPlan plan(std::move(options));
  Status ready = plan.PrepareZygote();
  if (ready) ready = plan.FinishZygote();
  Result<pid_t> pid = ready ? plan.Fork() : tl::unexpected(ready.error());
  if (!pid) {
    Send(out, "\n" + pid.error().message);
    _exit(3);
  }
  if (*pid == 0) Session(plan, body, out, bridge, std::move(adjust));
  int status = 0;
  if (waitpid(*pid, &status, 0) != *pid) _exit(98);
  _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

inline std::string ReadToEnd(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(fd, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace harness

inline Locked RunLocked(IsolationOptions options, Identity identity, const LockedBody& body,
                        std::function<void(SessionLock&)> adjust = {}) {
  int out[2], bridge[2];
  if (pipe(out) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, bridge) != 0) return {.text = "pipe"};
  const pid_t zygote = fork();
  if (zygote == 0) {
    close(out[0]);
    harness::Zygote(std::move(options), identity, body, out[1], bridge[1], std::move(adjust));
  }
  close(out[1]);
  const std::string all = harness::ReadToEnd(out[0]);
  close(out[0]);
  int status = 0;
  waitpid(zygote, &status, 0);
  close(bridge[0]);
  close(bridge[1]);
  Locked locked;
  locked.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (locked.exit_code > 128) locked.signal = locked.exit_code - 128;
  const std::size_t line = all.find('\n');
  if (line == std::string::npos) return locked;
  if (auto json = ParseJson(all.substr(0, line))) {
    if (auto report = IsolationReport::FromJson(*json)) locked.report = std::move(*report);
  }
  locked.text = all.substr(line + 1);
  return locked;
}

}  // namespace dossier::sandbox

#endif  // DOSSIER_TESTING_ISOLATION_HARNESS_H_
