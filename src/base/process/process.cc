#include "base/process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/cancel.h"
#include "base/files/file.h"
#include "base/process/child.h"
#include "base/text/text.h"

namespace dossier {
namespace {

using internal::ChildPlan, internal::InputFile, internal::MakePipe, internal::OpenFile;
using internal::Pipe, internal::WaitFor;

enum class Kind { kOwned, kDetached };

struct Child {
  ChildPlan plan;
  int report = -1;  // the pid of a detached program, then errno if it cannot start
  Kind kind = Kind::kOwned;
};

void Report(const Child& child, int number) {
  [[maybe_unused]] const ssize_t written = write(child.report, &number, sizeof(number));
}

[[noreturn]] void FailChild(const Child& child) {
  Report(child, errno);
  _exit(127);
}

// Forks again, so that the program becomes init's child and leaves no zombie with us.
void Detach(const Child& child) {
  if (setsid() < 0) FailChild(child);
  const pid_t pid = _Fork();
  if (pid < 0) FailChild(child);
  if (pid > 0) _exit(0);
  Report(child, getpid());
}

[[noreturn]] void RunChild(const Child& child) {
  if (child.kind == Kind::kDetached) {
    Detach(child);
  } else if (setpgid(0, 0) < 0) {
    FailChild(child);
  }
  // The sources are all above 2 (see AboveStandard), so no copy destroys another.
  const ChildPlan& plan = child.plan;
  if (dup2(plan.in, 0) < 0 || dup2(plan.out, 1) < 0 || dup2(plan.err, 2) < 0) FailChild(child);
  internal::StartProgram(plan);
  FailChild(child);
}

std::optional<int> ReadNumber(int fd) {
  int number = 0;
  ssize_t got = 0;
  do {
    got = read(fd, &number, sizeof(number));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(number) ? std::optional<int>(number) : std::nullopt;
}

// Starts a child that shares our memory until its program starts: copying the page tables of a
// large process takes longer than most programs run. Signals are blocked meanwhile, as a handler
// would run in our memory; StartProgram unblocks them for the child. A detached child forks again,
// which is not safe in shared memory.
pid_t StartChild(const Child& child) {
  if (child.kind == Kind::kDetached) {
    const pid_t pid = fork();
    if (pid == 0) RunChild(child);
    return pid;
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid =
      vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork,bugprone-unsafe-functions)
  if (pid == 0) RunChild(child);
  const int reason = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = reason;
  return pid;
}

// Starts a child and waits until the program runs or fails to start.
Result<pid_t> Spawn(Child child, const ProcessSpec& spec) {
  DOSSIER_ASSIGN_OR_RETURN(Pipe report, MakePipe());
  child.report = report.write.get();
  pid_t pid = StartChild(child);
  if (pid < 0) return MakeErrnoError(errno, "fork");
  report.write.Reset();
  const bool detached = child.kind == Kind::kDetached;
  if (detached) {
    WaitFor(pid, nullptr);
    const std::optional<int> own = ReadNumber(report.read.get());
    if (!own) return MakeError(ErrorCode::kDied, "cannot start {}", spec.argv[0]);
    pid = *own;
  }
  const std::optional<int> reason = ReadNumber(report.read.get());
  if (!reason) return pid;
  if (!detached) WaitFor(pid, nullptr);
  return tl::unexpected(internal::StartError(*reason, spec.argv[0]));
}

// One pipe of a running child, and its output up to a limit.
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

// Runs one child: reads its output and ends it.
class Runner {
 public:
  Runner(const ProcessSpec& spec, const CancelToken& cancel) : spec_(spec), cancel_(cancel) {}

  Result<ProcessResult> Run() {
    DOSSIER_RETURN_IF_ERROR(Start());
    const Status exchanged = Exchange();
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
    DOSSIER_ASSIGN_OR_RETURN(ChildPlan plan, internal::PlanChild(spec_));
    DOSSIER_ASSIGN_OR_RETURN(Pipe out, MakePipe());
    DOSSIER_ASSIGN_OR_RETURN(Pipe err, MakePipe());
    DOSSIER_ASSIGN_OR_RETURN(UniqueFd in, InputFile(spec_.input));
    plan.in = in.get();
    plan.out = out.write.get();
    plan.err = err.write.get();
    DOSSIER_ASSIGN_OR_RETURN(pid_, Spawn({.plan = std::move(plan)}, spec_));
    // A descriptor that signals the end of the child, so no thread waits for it (Linux 5.3).
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

  // Runs until the child has ended and closed its output. Does not wait for a grandchild that keeps
  // the output open longer.
  Status Exchange() {
    constexpr int kMostAfterExit = 64;  // reads: more than its pipes hold comes from others
    for (int after_exit = 0; after_exit < kMostAfterExit;) {
      pollfd waits[] = {{out_.fd.get(), POLLIN, 0},
                        {err_.fd.get(), POLLIN, 0},
                        {exited_.get(), POLLIN, 0},
                        {stopping_ ? -1 : wake_.fd(), POLLIN, 0}};
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
      if (waits[2].revents) ++after_exit;
      if (!KeepTime()) return {};
    }
    return {};
  }

  int WaitMillis() const {
    if (!ends_) return -1;
    const auto left = std::chrono::ceil<Millis>(*ends_ - SteadyClock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }

  // Returns false if there is nothing to wait for: the group was killed.
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

  void Kill(int signal_number) const { SendGroupSignal(pid_, signal_number); }

  void Reap() {
    // Before the wait: until then no other group can get this number.
    if (stopping_) Kill(SIGKILL);  // the rest of the child's group
    int status = 0;
    WaitFor(pid_, &status);
    if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
  }

  const ProcessSpec& spec_;
  const CancelToken& cancel_;
  const CancelFd wake_{cancel_};
  ProcessResult result_;
  pid_t pid_ = -1;
  UniqueFd exited_;
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
  DOSSIER_ASSIGN_OR_RETURN(ChildPlan plan, internal::PlanChild(spec));
  DOSSIER_ASSIGN_OR_RETURN(UniqueFd in, OpenFile("/dev/null", O_RDONLY));
  DOSSIER_ASSIGN_OR_RETURN(UniqueFd log, OpenFile(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600));
  plan.in = in.get();
  plan.out = plan.err = log.get();
  return Spawn({.plan = std::move(plan), .kind = Kind::kDetached}, spec);
}

std::optional<std::string> FindProgram(std::string_view program) {
  const auto runs = [](const std::string& full) {
    struct stat info{};
    return stat(full.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           access(full.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string_view::npos) {
    return runs(std::string(program)) ? std::optional(std::string(program)) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  if (!path || program.empty()) return std::nullopt;
  for (const std::string_view folder : Split(path, ':')) {
    // An empty part of PATH means the working folder, whose files are untrusted: skipped.
    if (folder.empty() || folder[0] != '/') continue;
    std::string full = std::string(folder) + "/" + std::string(program);
    if (runs(full)) return full;
  }
  return std::nullopt;
}

}  // namespace dossier
