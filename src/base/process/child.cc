#include "base/process/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/files/file.h"

extern char** environ;

namespace dossier::internal {
namespace {

Result<std::string> ResolveProgram(const ProcessSpec& spec) {
  if (spec.argv.empty() || spec.argv[0].empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "a process needs argv");
  }
  for (const std::string& argument : spec.argv) {
    if (argument.find('\0') != std::string::npos) {
      return MakeError(ErrorCode::kInvalidArgument, "an argument of {} holds a NUL byte",
                       spec.argv[0]);
    }
  }
  if (spec.argv[0].find('/') != std::string::npos) return spec.argv[0];
  if (auto found = FindProgram(spec.argv[0])) return *found;
  return MakeError(ErrorCode::kNotFound, "there is no program {} on PATH", spec.argv[0]);
}

}  // namespace

Result<ChildPlan> PlanChild(const ProcessSpec& spec) {
  HideMemory();
  ChildPlan plan;
  DOSSIER_ASSIGN_OR_RETURN(plan.program, ResolveProgram(spec));
  for (const std::string& argument : spec.argv) {
    plan.argv.push_back(const_cast<char*>(argument.c_str()));
  }
  plan.argv.push_back(nullptr);
  if (spec.environment) {
    for (const std::string& variable : *spec.environment) {
      plan.environment.push_back(const_cast<char*>(variable.c_str()));
    }
  } else {
    for (char** variable = environ; variable && *variable; ++variable) {
      plan.environment.push_back(*variable);
    }
  }
  plan.environment.push_back(nullptr);
  if (!spec.folder.empty()) plan.folder = spec.folder.c_str();
  return plan;
}

Result<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return MakeErrnoError(errno, "pipe");
  return Pipe{AboveStandard(ends[0]), AboveStandard(ends[1])};
}

UniqueFd AboveStandard(int fd) {
  UniqueFd given(fd);
  if (fd < 0 || fd > 2) return given;
  return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

Result<UniqueFd> OpenFile(const std::string& path, int flags, mode_t mode) {
  UniqueFd fd = AboveStandard(open(path.c_str(), flags | O_CLOEXEC, mode));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  return fd;
}

// A file, not a pipe: nothing to feed, and no SIGPIPE if it is not read.
Result<UniqueFd> InputFile(const std::string& input) {
  if (input.empty()) return OpenFile("/dev/null", O_RDONLY);
  UniqueFd fd = AboveStandard(memfd_create("dossier-input", MFD_CLOEXEC));
  if (!fd.valid()) return MakeErrnoError(errno, "memfd_create");
  DOSSIER_RETURN_IF_ERROR(WriteAll(fd.get(), input));
  if (lseek(fd.get(), 0, SEEK_SET) != 0) return MakeErrnoError(errno, "lseek");
  return fd;
}

void WaitFor(pid_t pid, int* status) {
  while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
  }
}

Error StartError(int errno_value, const std::string& program) {
  if (errno_value == ENOENT) {
    return {ErrorCode::kNotFound,
            fmt::format("cannot start {}: no such program or folder", program)};
  }
  return ErrnoError(errno_value, "start " + program);
}

void StartProgram(const ChildPlan& plan) {
  sigset_t none;
  sigemptyset(&none);
  for (const int signal_number : {SIGPIPE, SIGINT, SIGTERM, SIGCHLD, SIGHUP, SIGXFSZ}) {
    signal(signal_number, SIG_DFL);
  }
  sigprocmask(SIG_SETMASK, &none, nullptr);
  RestoreFileLimit();
  if (plan.folder && chdir(plan.folder) != 0) return;
  execve(plan.program.c_str(), plan.argv.data(), plan.environment.data());
}

}  // namespace dossier::internal

namespace dossier {

SpawnAttributes::SpawnAttributes(SpawnGroup group) {
  posix_spawnattr_init(&attributes_);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes_, &none);
  posix_spawnattr_setsigdefault(&attributes_, &all);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (group == SpawnGroup::kOwn) {
    posix_spawnattr_setpgroup(&attributes_, 0);
    flags |= POSIX_SPAWN_SETPGROUP;
  }
  posix_spawnattr_setflags(&attributes_, flags);
}

namespace {

constexpr char kName[] = "dossier";

// For the whole process, like the limit itself: the soft limit before it was raised; 0: it was not.
std::atomic<rlim_t> file_limit_before{0};

void Clear(std::uintptr_t begin, std::uintptr_t end) {
  if (begin == 0 || end <= begin) return;
  std::memset(reinterpret_cast<void*>(begin), 0, end - begin);
}

}  // namespace

void AllowManyFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0) file_limit_before = before;
}

void RestoreFileLimit(pid_t pid) {
  rlimit limit{};
  if (file_limit_before == 0 || prlimit(pid, RLIMIT_NOFILE, nullptr, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(file_limit_before, limit.rlim_max);
  prlimit(pid, RLIMIT_NOFILE, &limit, nullptr);
}

void HideMemory() { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

void HideCommandLine() {
  const std::string text = ReadFile("/proc/self/stat", 4096).value_or("");
  // The name before it may contain anything. After it come the state (field 3) and 42 numbers; then
  // the bounds of the data (45 to 47), of the arguments and of the environment (48 to 51).
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return;
  std::size_t at = name_end + 2;
  for (int field = 3; field < 48; ++field) {
    at = text.find(' ', at);
    if (at == std::string::npos) return;
    ++at;
  }
  std::uintptr_t arguments[2], environment[2];
  if (std::sscanf(text.c_str() + at, "%" SCNuPTR " %" SCNuPTR " %" SCNuPTR " %" SCNuPTR,
                  &arguments[0], &arguments[1], &environment[0], &environment[1]) != 4) {
    return;
  }
  Clear(arguments[0], arguments[1]);
  Clear(environment[0], environment[1]);
  if (arguments[0] != 0 && arguments[1] - arguments[0] > sizeof(kName)) {
    std::memcpy(reinterpret_cast<void*>(arguments[0]), kName, sizeof(kName));
  }
}

}  // namespace dossier
