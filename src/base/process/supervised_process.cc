#include "base/process/supervised_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/cancel.h"
#include "base/process/child.h"

// The process between us and a program: see supervised_process.h.
//
// It runs in a fork of a process with threads, so it makes only async-signal-safe calls: no heap
// memory, no stdio.

namespace dossier::internal {

inline constexpr int kGiveUpMillis = 1000;  // how long to wait after KILL for processes to go

// The one message of a supervisor, sent just before it ends.
struct SupervisorReport {
  enum class Kind : int { kNotStarted, kEnded };
  Kind kind = Kind::kEnded;
  int value = 0;  // errno, or the program's status as waitpid gives it
  ProcessEnd::Left left = ProcessEnd::Left::kNothing;
};

// All signals must be blocked. A message on `control`, or its end, asks it to end everything.
[[noreturn]] void RunSupervisor(const ChildPlan& plan, const Supervision& rules, int control);

}  // namespace dossier::internal

namespace dossier {
namespace {

using internal::SupervisorReport;

// Our handlers must not run in the supervisor before its signals are reset.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

Result<internal::Pipe> MakeControl() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return MakeErrnoError(errno, "socketpair");
  }
  return internal::Pipe{internal::AboveStandard(ends[0]), internal::AboveStandard(ends[1])};
}

Result<internal::Pipe> MakeOutput() {
  DOSSIER_ASSIGN_OR_RETURN(internal::Pipe pipe, internal::MakePipe());
  // Only for our end: the program expects a blocking pipe.
  if (fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) return MakeErrnoError(errno, "pipe");
  return pipe;
}

ProcessEnd EndOf(const SupervisorReport& report, const std::string& program) {
  ProcessEnd end;
  end.left = report.left;
  if (report.kind == SupervisorReport::Kind::kNotStarted) {
    end.not_started = internal::StartError(report.value, program);
  } else if (WIFSIGNALED(report.value)) {
    end.signal = WTERMSIG(report.value);
  } else {
    end.exit_code = WEXITSTATUS(report.value);
  }
  return end;
}

}  // namespace

Result<SupervisedProcess> SupervisedProcess::Start(const ProcessSpec& spec,
                                                   const Supervision& rules) {
  DOSSIER_ASSIGN_OR_RETURN(internal::ChildPlan plan, internal::PlanChild(spec));
  DOSSIER_ASSIGN_OR_RETURN(internal::Pipe out, MakeOutput());
  DOSSIER_ASSIGN_OR_RETURN(internal::Pipe err, MakeOutput());
  DOSSIER_ASSIGN_OR_RETURN(internal::Pipe control, MakeControl());
  DOSSIER_ASSIGN_OR_RETURN(UniqueFd in, internal::InputFile(spec.input));
  plan.in = in.get();
  plan.out = out.write.get();
  plan.err = err.write.get();
  const AllSignalsBlocked blocked;
  const pid_t pid = fork();
  if (pid < 0) return MakeErrnoError(errno, "fork");
  if (pid == 0) internal::RunSupervisor(plan, rules, control.write.get());
  return SupervisedProcess(pid, spec.argv[0], rules.grace, std::move(control.read),
                           std::move(out.read), std::move(err.read));
}

SupervisedProcess::SupervisedProcess(SupervisedProcess&& other) noexcept
    : supervisor_(std::exchange(other.supervisor_, -1)),
      program_(std::move(other.program_)),
      grace_(other.grace_),
      control_(std::move(other.control_)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)) {}

SupervisedProcess::~SupervisedProcess() {
  if (supervisor_ < 0) return;
  Stop();
  pollfd wait{control_.get(), POLLIN, 0};
  // Twice the longest time in which a supervisor gives up.
  const int patience = 2 * (static_cast<int>(grace_.count()) + internal::kGiveUpMillis);
  int ready = 0;
  do {
    ready = poll(&wait, 1, patience);
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) SendSignal(supervisor_, SIGKILL);
  internal::WaitFor(supervisor_, nullptr);
}

std::optional<ProcessEnd> SupervisedProcess::TakeEnd() {
  SupervisorReport report;
  ssize_t got = 0;
  do {
    got = recv(control_.get(), &report, sizeof(report), MSG_DONTWAIT);
    // Fails if it ended before it read our request to stop; its report is still there.
  } while (got < 0 && errno == ECONNRESET);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  internal::WaitFor(supervisor_, nullptr);
  supervisor_ = -1;
  if (got == sizeof(report)) return EndOf(report, program_);
  return ProcessEnd{.not_started = Error{ErrorCode::kDied, "its supervisor was killed"},
                    .left = ProcessEnd::Left::kSurvivors};
}

void SupervisedProcess::Stop() {
  const char byte = 0;
  [[maybe_unused]] const ssize_t sent =
      send(control_.get(), &byte, sizeof(byte), MSG_NOSIGNAL | MSG_DONTWAIT);
}

namespace {

// Collects the output of a pipe, up to a limit.
struct KeptOutput {
  std::string* text;
  std::uint64_t* dropped;
  bool open = true;

  // Returns false if there is nothing to read now.
  bool Read(int fd, std::size_t limit) {
    std::array<char, 64 << 10> block;
    const ssize_t got = read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && errno == EAGAIN) return false;
    if (got <= 0) return open = false;
    const auto count = static_cast<std::size_t>(got);
    const std::size_t kept = std::min(count, limit - std::min(limit, text->size()));
    text->append(block.data(), kept);
    *dropped += count - kept;
    return true;
  }
};

int MillisUntil(const std::optional<std::chrono::steady_clock::time_point>& end) {
  if (!end) return -1;
  const auto left = std::chrono::ceil<Millis>(*end - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

}  // namespace

Result<ProcessResult> RunSupervised(const ProcessSpec& spec, const Supervision& rules,
                                    const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(SupervisedProcess process, SupervisedProcess::Start(spec, rules));
  ProcessResult result;
  KeptOutput out{&result.out, &result.out_dropped}, err{&result.err, &result.err_dropped};
  const CancelFd stop(cancel);
  std::optional<std::chrono::steady_clock::time_point> end_at;
  if (spec.timeout) end_at = std::chrono::steady_clock::now() + *spec.timeout;
  std::optional<ProcessEnd> end;
  bool stopped = false;
  while (!end) {
    pollfd waits[] = {{out.open ? process.out() : -1, POLLIN, 0},
                      {err.open ? process.err() : -1, POLLIN, 0},
                      {process.report(), POLLIN, 0},
                      {stopped ? -1 : stop.fd(), POLLIN, 0}};
    if (poll(waits, std::size(waits), stopped ? -1 : MillisUntil(end_at)) < 0 && errno != EINTR) {
      return MakeErrnoError(errno, "poll");
    }
    if (waits[0].revents != 0) out.Read(process.out(), spec.max_output);
    if (waits[1].revents != 0) err.Read(process.err(), spec.max_output);
    end = process.TakeEnd();
    if (end || stopped) continue;
    result.timed_out = end_at && MillisUntil(end_at) == 0;
    stopped = result.timed_out || cancel.cancelled();
    if (stopped) process.Stop();
  }
  if (stopped && !result.timed_out) {
    return MakeError(ErrorCode::kCancelled, "{} was stopped: {}", spec.argv[0], cancel.reason());
  }
  if (end->not_started) return tl::unexpected(std::move(*end->not_started));
  // The pipes' remaining output, at most 1 MB each, as descendants may write forever.
  constexpr int kMostBlocks = 16;
  for (int i = 0; i < kMostBlocks && out.open; ++i) {
    if (!out.Read(process.out(), spec.max_output)) break;
  }
  for (int i = 0; i < kMostBlocks && err.open; ++i) {
    if (!err.Read(process.err(), spec.max_output)) break;
  }
  result.exit_code = end->exit_code;
  result.signal = end->signal;
  return result;
}

}  // namespace dossier

namespace dossier::internal {

// The C library's own vfork. A sanitizer's vfork keeps one return address per thread, and here one
// vfork is nested in another.
pid_t PlainVfork() __asm__("__vfork");

namespace {

constexpr int kControl = 3;  // the control socket's number in the supervisor

struct ProcessIds {
  pid_t pid, parent;
};

pid_t ReadPid(const char* text) {
  pid_t pid = 0;
  while (*text >= '0' && *text <= '9') pid = pid * 10 + (*text++ - '0');
  return pid;
}

// Parses "PID (NAME) STATE PARENT …", where NAME may contain anything. 0 if the process is gone.
pid_t ParentOf(const char* pid) {
  char path[32] = "/proc/";
  strncat(path, pid, 12);
  strcat(path, "/stat");
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[256];
  const ssize_t got = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (got <= 0) return 0;
  text[got] = '\0';
  const char* name_end = strrchr(text, ')');
  return name_end && strlen(name_end) > 4 ? ReadPid(name_end + 4) : 0;
}

// Calls `visit` for every process of the system. (The kernel's own list of children,
// /proc/PID/task/TID/children, is an option of its build that some lack.)
template <typename Visit>
void ForEachProcess(Visit visit) {
  const int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(dirent64) char block[8192];
  ssize_t got = 0;
  while ((got = getdents64(folder, block, sizeof(block))) > 0) {
    for (ssize_t at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(block + at);
      at += entry->d_reclen;
      if (const pid_t pid = ReadPid(entry->d_name)) visit({pid, ParentOf(entry->d_name)});
    }
  }
  close(folder);
}

class Supervisor {
 public:
  Supervisor(const ChildPlan& plan, const Supervision& rules) : plan_(plan), rules_(rules) {}

  [[noreturn]] void Run() {
    if (const int reason = Start()) {
      End({.kind = SupervisorReport::Kind::kNotStarted, .value = reason});
    }
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    signals_ = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    while (true) {
      Reap();
      if (ended_ && !stopping_) Leave();
      if (stopping_) KeepStopping();
      Wait();
    }
  }

 private:
  // 0, or errno. Between us and the program stands, for a moment, the leader of its session: were
  // the program itself the leader, a `setsid` that it is would fork, end at once, and look like a
  // success. All share our memory until the program runs, so that nothing is copied for it.
  int Start() {
    volatile int reason = 0;
    volatile pid_t program = -1;
    const pid_t leader = PlainVfork();
    if (leader == 0) {
      setsid();
      const pid_t pid = PlainVfork();
      if (pid == 0) {
        StartProgram(plan_);
        reason = errno;
        _exit(127);
      }
      if (pid < 0) reason = errno;
      program = pid;
      _exit(0);
    }
    if (leader < 0) return errno;
    WaitFor(leader, nullptr);
    if (reason != 0) return reason;
    program_ = program;
    if (program_ < 0) Orphaned();
    // The supervisor must not keep the program's pipes open.
    dup2(0, 1);
    dup2(0, 2);
    return 0;
  }

  // The program was faster than the leader, and killed it before it could tell the program's
  // number. Who begins so is not let run: as a child of ours it is found by its parent.
  void Orphaned() {
    ended_ = stopping_ = true;
    status_ = SIGKILL;  // as waitpid reports it
    kill_at_ = Now();
  }

  [[noreturn]] static void End(const SupervisorReport& report) {
    send(kControl, &report, sizeof(report), MSG_NOSIGNAL);
    _exit(0);
  }

  void Reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
      if (pid != program_) continue;
      ended_ = true;
      status_ = status;
    }
    alone_ = pid < 0 && errno == ECHILD;
  }

  // Called when the program has ended by itself.
  void Leave() {
    const bool success = WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
    if (alone_) End({.value = status_});
    if (success && rules_.leftovers == Supervision::Leftovers::kLive) {
      End({.value = status_, .left = ProcessEnd::Left::kBackground});
    }
    Stop();
  }

  void Stop() {
    stopping_ = true;
    kill_at_ = Now() + rules_.grace.count();
    Term();
  }

  // Signals all that can be found, before the first of them reacts.
  void Term() {
    constexpr int kMost = 8192;
    ProcessIds all[kMost];
    int count = 0;
    ForEachProcess([&](ProcessIds ids) {
      if (count < kMost) all[count++] = ids;
    });
    if (!ended_) SendSignal(program_, SIGTERM);
    const pid_t self = getpid();
    // Each round marks the children of those marked before, with our own number as parent.
    for (bool more = true; more;) {
      more = false;
      for (int i = 0; i < count; ++i) {
        if (all[i].parent != self || all[i].pid == 0) continue;
        SendSignal(all[i].pid, SIGTERM);
        for (int j = 0; j < count; ++j) {
          if (all[j].parent == all[i].pid) all[j].parent = self;
        }
        all[i].pid = 0;
        more = true;
      }
    }
  }

  void KeepStopping() {
    if (alone_) End({.value = status_});
    if (Now() >= kill_at_ + kGiveUpMillis) {
      End({.value = status_, .left = ProcessEnd::Left::kSurvivors});
    }
    if (Now() < kill_at_) return;
    if (!ended_) SendSignal(program_, SIGKILL);
    // Children of a dead child become ours, so each round goes one level deeper.
    const pid_t self = getpid();
    ForEachProcess([self](ProcessIds ids) {
      if (ids.parent == self) SendSignal(ids.pid, SIGKILL);
    });
  }

  // Waits until a child ends, a message comes, or time is up.
  void Wait() {
    constexpr int kKillPause = 10;
    pollfd waits[] = {{signals_, POLLIN, 0}, {stopping_ ? -1 : kControl, POLLIN, 0}};
    const auto until_kill = static_cast<int>(std::max<std::int64_t>(kill_at_ - Now(), 0));
    const int limit = !stopping_ ? -1 : until_kill > 0 ? until_kill : kKillPause;
    if (poll(waits, 2, limit) <= 0) return;
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof(info)) > 0) {
    }
    if (!stopping_ && waits[1].revents) {
      char byte = 0;
      recv(kControl, &byte, sizeof(byte), MSG_DONTWAIT);
      Reap();
      if (!ended_) Stop();
    }
  }

  static std::int64_t Now() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  }

  const ChildPlan& plan_;
  const Supervision& rules_;
  pid_t program_ = -1;
  int signals_ = -1;
  int status_ = 0;
  bool ended_ = false;  // the program
  bool alone_ = false;  // no child is left
  bool stopping_ = false;
  std::int64_t kill_at_ = 0;  // milliseconds of a monotonic clock
};

}  // namespace

void RunSupervisor(const ChildPlan& plan, const Supervision& rules, int control) {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  setsid();  // out of reach of Ctrl-C, which we forward ourselves
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // The sources are all above 2; the last may overwrite one that has been copied.
  dup2(plan.in, 0);
  dup2(plan.out, 1);
  dup2(plan.err, 2);
  if (control != kControl) dup2(control, kControl);
  fcntl(kControl, F_SETFD, FD_CLOEXEC);
  close_range(kControl + 1, ~0U, 0);
  Supervisor(plan, rules).Run();
}

}  // namespace dossier::internal
