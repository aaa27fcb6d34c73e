#include "base/process/supervised_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/process/child_plan.h"
#include "base/process/send_signal.h"
#include "base/process/supervisor.h"

namespace dossier {
namespace {

using internal::SupervisorReport;

// No handler of ours may run in the supervisor before its signals are reset.
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
  // Of our end only: the program expects to wait.
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
  // Twice what a supervisor takes at most to give up.
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
    // Once, if it ended before it read our wish to stop; its report is still there.
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

}  // namespace dossier
