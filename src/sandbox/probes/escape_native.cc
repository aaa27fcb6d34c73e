#include "sandbox/probes/escape_native.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files/file.h"

namespace dossier::sandbox {
namespace {

// What a session's process tells of itself, in one write.
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

// Runs in the child that plays the zygote. A line for each probe: refused or not, and how.
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

}  // namespace dossier::sandbox
