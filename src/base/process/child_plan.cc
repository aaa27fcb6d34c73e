#include "base/process/child_plan.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/process/hide_process.h"

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

// A file and no pipe: nothing to feed, and no SIGPIPE if it is not read.
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
  if (plan.folder && chdir(plan.folder) != 0) return;
  execve(plan.program.c_str(), plan.argv.data(), plan.environment.data());
}

}  // namespace dossier::internal
