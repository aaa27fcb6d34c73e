#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/file.h"
#include "base/text.h"

extern char** environ;

namespace dossier {
namespace {

// Everything that the child needs, made before the fork: after it, in a process with threads, only
// async-signal-safe calls are allowed.
struct ChildPlan {
  std::string program;
  std::vector<char*> argv, environment;
  const char* folder = nullptr;
  int in = -1, out = -1, err = -1;
  int report = -1;  // the pid of a detached program, then errno if it cannot start
  enum class Kind { kOwned, kDetached } kind = Kind::kOwned;
};

void Report(const ChildPlan& plan, int number) {
  [[maybe_unused]] const ssize_t written = write(plan.report, &number, sizeof(number));
}

[[noreturn]] void FailChild(const ChildPlan& plan) {
  Report(plan, errno);
  _exit(127);
}

// A second fork, so that the program is nobody's child but init's: no zombie stays with us.
void Detach(const ChildPlan& plan) {
  if (setsid() < 0) FailChild(plan);
  const pid_t pid = _Fork();
  if (pid < 0) FailChild(plan);
  if (pid > 0) _exit(0);
  Report(plan, getpid());
}

[[noreturn]] void RunChild(const ChildPlan& plan) {
  if (plan.kind == ChildPlan::Kind::kDetached) {
    Detach(plan);
  } else if (setpgid(0, 0) < 0) {
    FailChild(plan);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal_number : {SIGPIPE, SIGINT, SIGTERM, SIGCHLD, SIGHUP}) {
    signal(signal_number, SIG_DFL);
  }
  // The sources are all above 2 (see AboveStandard), so no copy destroys another.
  if (dup2(plan.in, 0) < 0 || dup2(plan.out, 1) < 0 || dup2(plan.err, 2) < 0) FailChild(plan);
  if (plan.folder && chdir(plan.folder) != 0) FailChild(plan);
  execve(plan.program.c_str(), plan.argv.data(), plan.environment.data());
  FailChild(plan);
}

struct Pipe {
  UniqueFd read, write;
};

// A descriptor of the standard three would be overwritten in the child.
UniqueFd AboveStandard(int fd) {
  UniqueFd given(fd);
  if (fd < 0 || fd > 2) return given;
  return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

Result<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return MakeErrnoError(errno, "pipe");
  return Pipe{AboveStandard(ends[0]), AboveStandard(ends[1])};
}

Result<UniqueFd> OpenFile(const std::string& path, int flags, mode_t mode = 0) {
  UniqueFd fd = AboveStandard(open(path.c_str(), flags | O_CLOEXEC, mode));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  return fd;
}

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

Result<ChildPlan> MakePlan(const ProcessSpec& spec) {
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

std::optional<int> ReadNumber(int fd) {
  int number = 0;
  ssize_t got = 0;
  do {
    got = read(fd, &number, sizeof(number));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(number) ? std::optional<int>(number) : std::nullopt;
}

void WaitFor(pid_t pid, int* status) {
  while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
  }
}

// Forks and waits until the program runs, or cannot.
Result<pid_t> Spawn(ChildPlan plan, const ProcessSpec& spec) {
  DOSSIER_ASSIGN_OR_RETURN(Pipe report, MakePipe());
  plan.report = report.write.get();
  pid_t pid = fork();
  if (pid < 0) return MakeErrnoError(errno, "fork");
  if (pid == 0) RunChild(plan);
  report.write.Reset();
  const bool detached = plan.kind == ChildPlan::Kind::kDetached;
  if (detached) {
    WaitFor(pid, nullptr);
    const std::optional<int> own = ReadNumber(report.read.get());
    if (!own) return MakeError(ErrorCode::kDied, "cannot start {}", spec.argv[0]);
    pid = *own;
  }
  const std::optional<int> reason = ReadNumber(report.read.get());
  if (!reason) return pid;
  if (!detached) WaitFor(pid, nullptr);
  if (*reason == ENOENT) {
    return MakeError(ErrorCode::kNotFound, "cannot start {}: no such program or folder",
                     spec.argv[0]);
  }
  return MakeErrnoError(*reason, "start " + spec.argv[0]);
}

// `input` as a file in memory: no pipe to feed, and no SIGPIPE if it is not read.
Result<UniqueFd> InputFile(const std::string& input) {
  if (input.empty()) return OpenFile("/dev/null", O_RDONLY);
  UniqueFd fd = AboveStandard(memfd_create("dossier-input", MFD_CLOEXEC));
  if (!fd.valid()) return MakeErrnoError(errno, "memfd_create");
  DOSSIER_RETURN_IF_ERROR(WriteAll(fd.get(), input));
  if (lseek(fd.get(), 0, SEEK_SET) != 0) return MakeErrnoError(errno, "lseek");
  return fd;
}

// One pipe of a running child: what it printed, up to a limit.
struct Capture {
  UniqueFd fd;
  std::string* text;
  std::uint64_t* dropped;

  void Read(std::size_t limit) {
    char block[64 << 10];
    const ssize_t got = read(fd.get(), block, sizeof(block));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return fd.Reset();
    const auto count = static_cast<std::size_t>(got);
    const std::size_t kept = std::min(count, limit - std::min(limit, text->size()));
    text->append(block, kept);
    *dropped += count - kept;
  }
};

// Runs one child: reads it, ends it.
class Runner {
 public:
  Runner(const ProcessSpec& spec, const CancelToken& cancel) : spec_(spec), cancel_(cancel) {}

  Result<ProcessResult> Run() {
    DOSSIER_RETURN_IF_ERROR(Start());
    const std::uint64_t id = cancel_.OnCancel([fd = wake_.get()] {
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = write(fd, &one, sizeof(one));
    });
    const Status exchanged = Exchange();
    cancel_.Forget(id);
    if (!exchanged) Kill(SIGKILL);
    Reap();
    DOSSIER_RETURN_IF_ERROR(exchanged);
    if (cancelled_) {
      return MakeError(ErrorCode::kCancelled, "{} was stopped: {}", spec_.argv[0],
                       cancel_.reason());
    }
    return std::move(result_);
  }

 private:
  using SteadyClock = std::chrono::steady_clock;
  enum class By { kUser, kTime };

  Status Start() {
    DOSSIER_ASSIGN_OR_RETURN(ChildPlan plan, MakePlan(spec_));
    DOSSIER_ASSIGN_OR_RETURN(Pipe out, MakePipe());
    DOSSIER_ASSIGN_OR_RETURN(Pipe err, MakePipe());
    DOSSIER_ASSIGN_OR_RETURN(UniqueFd in, InputFile(spec_.input));
    wake_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_.valid()) return MakeErrnoError(errno, "eventfd");
    plan.in = in.get();
    plan.out = out.write.get();
    plan.err = err.write.get();
    DOSSIER_ASSIGN_OR_RETURN(pid_, Spawn(std::move(plan), spec_));
    // A descriptor for the end of the child, so that no thread waits for it (Linux 5.3).
    exited_ = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!exited_.valid()) {
      const int reason = errno;
      Kill(SIGKILL);
      Reap();
      return MakeErrnoError(reason, "pidfd_open");
    }
    out_ = {std::move(out.read), &result_.out, &result_.out_dropped};
    err_ = {std::move(err.read), &result_.err, &result_.err_dropped};
    if (spec_.timeout) ends_ = SteadyClock::now() + *spec_.timeout;
    return {};
  }

  // Until the child has ended and closed its output. A grandchild that keeps the output open beyond
  // the child's end is not waited for.
  Status Exchange() {
    while (true) {
      pollfd waits[] = {{out_.fd.get(), POLLIN, 0},
                        {err_.fd.get(), POLLIN, 0},
                        {exited_.get(), POLLIN, 0},
                        {stopping_ ? -1 : wake_.get(), POLLIN, 0}};
      const int ready = poll(waits, std::size(waits), WaitMillis());
      if (ready < 0 && errno != EINTR) return MakeErrnoError(errno, "poll");
      if (ready <= 0) {
        if (!KeepTime()) return {};
        continue;
      }
      if (waits[3].revents) Stop(By::kUser);
      if (waits[0].revents) out_.Read(spec_.max_output);
      if (waits[1].revents) err_.Read(spec_.max_output);
      if (waits[2].revents && !waits[0].revents && !waits[1].revents) return {};
      if (!KeepTime()) return {};
    }
  }

  int WaitMillis() const {
    if (!ends_) return -1;
    const auto left = std::chrono::ceil<Millis>(*ends_ - SteadyClock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }

  // False when nothing is left to wait for: the group was killed.
  bool KeepTime() {
    if (!ends_ || SteadyClock::now() < *ends_) return true;
    if (!stopping_) {
      Stop(By::kTime);
      return true;
    }
    Kill(SIGKILL);
    return false;
  }

  void Stop(By by) {
    if (stopping_) return;
    stopping_ = true;
    (by == By::kUser ? cancelled_ : result_.timed_out) = true;
    Kill(SIGTERM);
    ends_ = SteadyClock::now() + Millis(100);
  }

  void Kill(int signal_number) const { kill(-pid_, signal_number); }

  void Reap() {
    // Before the wait: until then nobody else can get the group's number.
    if (stopping_) Kill(SIGKILL);  // what the child left behind in its group
    int status = 0;
    WaitFor(pid_, &status);
    if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
  }

  const ProcessSpec& spec_;
  const CancelToken& cancel_;
  ProcessResult result_;
  pid_t pid_ = -1;
  UniqueFd wake_, exited_;
  Capture out_{}, err_{};
  bool stopping_ = false, cancelled_ = false;
  std::optional<SteadyClock::time_point> ends_;
};

}  // namespace

Result<ProcessResult> RunProcess(const ProcessSpec& spec, const CancelToken& cancel) {
  if (cancel.cancelled()) {
    return MakeError(ErrorCode::kCancelled, "cancelled: {}", cancel.reason());
  }
  return Runner(spec, cancel).Run();
}

Result<pid_t> StartDetached(const ProcessSpec& spec, const std::string& log_path) {
  DOSSIER_ASSIGN_OR_RETURN(ChildPlan plan, MakePlan(spec));
  DOSSIER_ASSIGN_OR_RETURN(UniqueFd in, OpenFile("/dev/null", O_RDONLY));
  DOSSIER_ASSIGN_OR_RETURN(UniqueFd log, OpenFile(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600));
  plan.in = in.get();
  plan.out = plan.err = log.get();
  plan.kind = ChildPlan::Kind::kDetached;
  return Spawn(std::move(plan), spec);
}

std::optional<std::string> FindProgram(std::string_view program) {
  const auto runs = [](const std::string& full) {
    struct stat info {};
    return stat(full.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           access(full.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string_view::npos) {
    return runs(std::string(program)) ? std::optional(std::string(program)) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  if (!path || program.empty()) return std::nullopt;
  for (const std::string_view folder : Split(path, ':')) {
    // An empty part of PATH means the working folder, which may hold anybody's files: skipped.
    if (folder.empty() || folder[0] != '/') continue;
    std::string full = std::string(folder) + "/" + std::string(program);
    if (runs(full)) return full;
  }
  return std::nullopt;
}

}  // namespace dossier
