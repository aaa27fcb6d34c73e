// The keeper: waits for the program, reaps orphaned descendants, and ends all that are left.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "base/process/child.h"
#include "sandbox/jail/jail_plan.h"
#include "sandbox/walls/process_tree.h"

namespace dossier::sandbox {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Millis kWatchInside{50};    // as in the watchdog layer of workers
constexpr Millis kWatchOutside{250};  // reads the whole machine's /proc, which costs more
// Used if only the keeper counts: in this time a fast machine creates some hundred processes.
constexpr Millis kCountNew{5};

Millis CpuOf(const rusage& usage) {
  const auto millis = [](const timeval& time) {
    return Millis(time.tv_sec * 1000 + time.tv_usec / 1000);
  };
  return millis(usage.ru_utime) + millis(usage.ru_stime);
}

class Keeper {
 public:
  explicit Keeper(const KeeperSpec& spec) : spec_(spec) {}

  KeeperReport Run(const std::function<void()>& start) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, nullptr);
    ended_ = UniqueFd(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    int ends[2] = {-1, -1};
    (void)pipe2(ends, O_CLOEXEC);  // if this fails, counting starts at once
    starting_ = UniqueFd(ends[0]);
    program_ = fork();
    if (program_ == 0) {
      start();
      _exit(127);
    }
    UniqueFd(ends[1]).Reset();
    for (const int fd : {0, 1, 2, spec_.report}) close(fd);
    next_watch_ = SteadyClock::now() + WatchInterval();
    next_count_ = SteadyClock::now();
    while (program_ > 0 && !over_) Step();
    EndAll();
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const Millis used = forgotten_ + std::max(CpuOf(usage), seen_);
    report_.cpu_ms = used.count();
    report_.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
    // RLIMIT_CPU of one process ends it just as well. Its clock counts ticks, so the two differ.
    const int signal = WIFSIGNALED(report_.wait_status) ? WTERMSIG(report_.wait_status) : 0;
    const bool used_up = used * 2 >= spec_.limits.cpu;
    if ((signal == SIGKILL || signal == SIGXCPU) && !asked_to_kill_ && !kill_at_ && used_up) {
      report_.stop = JailStop::kCpu;
    }
    return report_;
  }

 private:
  Millis WatchInterval() const {
    return spec_.tree == KeeperSpec::Tree::kPidNamespace ? kWatchInside : kWatchOutside;
  }

  void Step() {
    pollfd waits[] = {{ended_.get(), POLLIN, 0}, {spec_.control, POLLIN, 0}};
    const auto left = std::chrono::ceil<Millis>(NextLook() - SteadyClock::now()).count();
    (void)poll(waits, std::size(waits), static_cast<int>(std::max<std::int64_t>(left, 0)));
    Reap();
    if (waits[1].revents != 0) Obey();
    const auto now = SteadyClock::now();
    if (kill_at_ && now >= *kill_at_) over_ = true;
    if (now >= next_count_ && Counting() && !over_) CountNew();
    if (now >= next_watch_ && !over_) {
      Watch();
      spec_.look();
      next_watch_ = SteadyClock::now() + WatchInterval();
    }
  }

  bool Counting() const { return spec_.processes == KeeperSpec::Processes::kCounted; }

  SteadyClock::time_point NextLook() const {
    const auto look = Counting() ? std::min(next_watch_, next_count_) : next_watch_;
    return kill_at_ ? std::min(*kill_at_, look) : look;
  }

  // The ids assigned since the last count are an upper bound for new processes. While that is below
  // the limit, nothing needs to be counted.
  void CountNew() {
    next_count_ = SteadyClock::now() + kCountNew;
    const std::optional<pid_t> newest = spec_.proc >= 0 ? NewestPid(spec_.proc) : std::nullopt;
    const bool fits = newest && *newest >= counted_at_ && *newest - counted_at_ <= room_;
    if (!fits) Watch();
  }

  void Reap() {
    signalfd_siginfo ignored;
    while (read(ended_.get(), &ignored, sizeof(ignored)) > 0) continue;
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != program_) continue;
      report_.wait_status = status;
      program_ended_ = over_ = true;
    }
  }

  void Obey() {
    char order = 0;
    const ssize_t got = read(spec_.control, &order, 1);
    if (got < 0 && errno == EINTR) return;
    if (got == 1 && order == static_cast<char>(JailOrder::kEnd)) {
      Terminate();
      return;
    }
    over_ = true;  // the host is gone, or requests an immediate end
    asked_to_kill_ = true;
  }

  void Terminate() {
    if (kill_at_) return;
    kill_at_ = SteadyClock::now() + spec_.limits.grace;
    Signal(SIGTERM);
  }

  // Enforces the limits over all processes; the kernel enforces those of a single process.
  void Watch() {
    if (spec_.proc < 0 || report_.stop != JailStop::kNothing) return;
    counted_at_ = NewestPid(spec_.proc).value_or(std::numeric_limits<pid_t>::max());
    const std::vector<TreeProcess> tree = Descendants(spec_.proc, getpid());
    int threads = 0;
    rusage reaped{};
    getrusage(RUSAGE_CHILDREN, &reaped);
    Millis cpu = CpuOf(reaped);
    for (const TreeProcess& process : tree) {
      threads += process.threads;
      cpu += process.cpu;
    }
    room_ = spec_.limits.processes - threads;
    if (room_ < 0) return Stop(JailStop::kProcesses);
    if (MemoryOf(tree) > spec_.limits.memory) return Stop(JailStop::kMemory);
    if (WithForgotten(cpu) > spec_.limits.cpu) Stop(JailStop::kCpu);
  }

  // A program that ignores SIGCHLD waits for no child, and the kernel then forgets the time of
  // those that end. So where the sum falls, what is missing is kept. Once alone it may fall because
  // a process was read while it ended.
  Millis WithForgotten(Millis sum) {
    if (sum >= seen_) {
      seen_ = sum;
      fell_ = false;
    } else if (!std::exchange(fell_, true)) {
      return forgotten_ + seen_;
    } else {
      forgotten_ += seen_ - sum;
      seen_ = sum;
      fell_ = false;
    }
    return forgotten_ + seen_;
  }

  // Between fork and exec the child still has the host's pages, which do not count.
  bool IsStarting() {
    pollfd end = {starting_.get(), POLLIN, 0};
    if (starting_.valid() && poll(&end, 1, 0) > 0) starting_.Reset();
    return starting_.valid();
  }

  // Lists of mappings can be long, so at most a tenth of the time is spent on shared memory.
  std::uint64_t MemoryOf(const std::vector<TreeProcess>& tree) {
    if (IsStarting()) return 0;
    std::uint64_t memory = 0;
    for (const TreeProcess& process : tree) memory += PrivateBytes(spec_.proc, process.pid);
    if (spec_.memory == KeeperSpec::Memory::kByCgroup) return memory;
    const auto begin = SteadyClock::now();
    if (begin >= next_shared_) {
      shared_ = SharedBytes(spec_.proc, tree);
      const auto end = SteadyClock::now();
      next_shared_ = end + 9 * (end - begin);
    }
    return memory + shared_ + spec_.other_memory();
  }

  // Immediately: a program over a limit gets no grace.
  void Stop(JailStop stop) {
    report_.stop = stop;
    over_ = asked_to_kill_ = true;
  }

  void Signal(int number) const {
    if (spec_.tree == KeeperSpec::Tree::kPidNamespace) {
      // All except init, which we are here. Elsewhere that would be all processes of the user.
      if (getpid() == 1) kill(-1, number);
      return;
    }
    if (!program_ended_) SendSignal(program_, number);
    if (spec_.proc < 0) return;
    for (const TreeProcess& process : Descendants(spec_.proc, getpid())) {
      SendSignal(process.pid, number);
    }
  }

  bool AllGone() {
    int status = 0;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
      if (pid == program_) report_.wait_status = status;
      if (pid == program_) program_ended_ = true;
    }
    return pid < 0 && errno == ECHILD;
  }

  // Ends the processes that the program left: TERM, the grace, KILL; repeats until none is left.
  void EndAll() {
    if (AllGone()) return;
    if (!asked_to_kill_ && !kill_at_) Terminate();
    while (!asked_to_kill_ && SteadyClock::now() < *kill_at_) {
      WaitForChild(std::chrono::ceil<Millis>(*kill_at_ - SteadyClock::now()));
      if (AllGone()) return;
    }
    constexpr Millis kAgain{20};  // for processes forked while the list was read
    do {
      Signal(SIGKILL);
      WaitForChild(kAgain);
    } while (!AllGone());
  }

  void WaitForChild(Millis longest) const {
    pollfd wait = {ended_.get(), POLLIN, 0};
    (void)poll(&wait, 1, static_cast<int>(longest.count()));
    signalfd_siginfo ignored;
    while (read(ended_.get(), &ignored, sizeof(ignored)) > 0) continue;
  }

  const KeeperSpec& spec_;
  KeeperReport report_;
  UniqueFd ended_;
  UniqueFd starting_;  // the other end closes when the program is executed
  pid_t program_ = -1;
  bool over_ = false, program_ended_ = false, asked_to_kill_ = false;
  std::optional<SteadyClock::time_point> kill_at_;
  SteadyClock::time_point next_watch_, next_count_, next_shared_{};
  Millis seen_{0}, forgotten_{0};  // CPU time at the last look; of processes that left no trace
  bool fell_ = false;              // at the last look
  pid_t counted_at_ = 0;           // the newest id at the last count
  int room_ = 0;                   // number of processes that the limit allowed then
  std::uint64_t shared_ = 0;
};

}  // namespace

KeeperReport KeepProgram(const KeeperSpec& spec, const std::function<void()>& start) {
  return Keeper(spec).Run(start);
}

}  // namespace dossier::sandbox
