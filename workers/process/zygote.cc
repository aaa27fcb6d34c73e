#include "zygote.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "contexts.h"
#include "sandbox/session/message.h"
#include "sandbox/session/session_open.h"
#include "sandbox/session/session_socket.h"

namespace dossier::worker {

using sandbox::Message;
using sandbox::MessageType;

namespace {

// A host that has asked for nothing for so long (milliseconds) is waiting for a model: the
// processors are free. A command whose model is quicker is over before.
constexpr int kQuietTime = 150;

void SetChildSignal(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(how, &set, nullptr);
}

// Best effort: a host that no longer listens has closed its end.
void Report(int fd, const Message& message) {
  (void)sandbox::SendWithFds(fd, sandbox::MessageWriter::Encode(message), {}, Millis(1000));
}

}  // namespace

Zygote::Zygote(sandbox::IsolationPlan plan, std::unique_ptr<Language> language, UniqueFd control)
    : plan_(std::move(plan)),
      language_(std::move(language)),
      control_(std::move(control)),
      decoder_(sandbox::Side::kHost) {}

Status Zygote::WatchChildren() {
  SetChildSignal(SIG_BLOCK);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  signals_ = UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.valid()) return MakeErrnoError(errno, "signalfd");
  return {};
}

int Zygote::Serve() {
  if (!WatchChildren()) return sandbox::kBrokenBridgeExit;
  int quiet = kQuietTime;
  while (true) {
    pollfd fds[] = {{control_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    const int ready = poll(fds, 2, loading_ ? quiet : -1);
    if (ready < 0 && errno != EINTR) return sandbox::kBrokenBridgeExit;
    quiet = ready == 0 ? 0 : kQuietTime;
    if (ready == 0) loading_ = language_->LoadMore();
    if (ready <= 0) continue;
    if (fds[1].revents) Reap();
    if (!fds[0].revents) continue;
    do {
      const Status served = ServeRequest();
      if (!served) return served.error().code == ErrorCode::kDied ? 0 : sandbox::kBrokenBridgeExit;
    } while (!decoder_.frames().at_boundary());  // a read may bring the start of the next request
  }
}

Status Zygote::ServeRequest() {
  DOSSIER_ASSIGN_OR_RETURN(
      const Message request,
      sandbox::ReceiveMessage(control_.get(), decoder_, &received_, Millis(5000)));
  if (request.type != MessageType::kFork || received_.size() < 2) {
    return MakeError(ErrorCode::kProtocol, "zygote: not a fork with two descriptors");
  }
  UniqueFd socket = std::move(received_[0]), status = std::move(received_[1]);
  received_.erase(received_.begin(), received_.begin() + 2);
  return Fork(request, std::move(socket), std::move(status));
}

Status Zygote::Fork(const Message& request, UniqueFd socket, UniqueFd status) {
  timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  using Rehearsal = SessionProcessParts::Rehearsal;
  const std::string_view kind = request.json.at("kind").get_string();
  const Result<pid_t> pid =
      kind == "zygote" ? ForkZygote(socket)
                       : ForkSession(kind == "spare" ? Rehearsal::kYes : Rehearsal::kNo, socket);
  if (pid && *pid == 0) return LoadContexts();  // the new zygote; a session does not come back
  clock_gettime(CLOCK_MONOTONIC, &after);
  Message forked{.type = MessageType::kForked, .id = request.id};
  forked.json = {
      {"pid", pid ? *pid : 0},
      {"ms", (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1'000'000}};
  if (!pid) forked.json["error"] = pid.error().message;
  Report(status.get(), forked);
  if (pid) children_.emplace(*pid, std::move(status));
  return {};
}

// In a child: what belongs to the parent.
void Zygote::ForgetParent() {
  language_->AfterFork(ForkSide::kChild);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  control_.Reset();
  signals_.Reset();
  children_.clear();
  received_.clear();
}

Result<pid_t> Zygote::ForkSession(SessionProcessParts::Rehearsal rehearsal, UniqueFd& socket) {
  language_->BeforeFork();
  Result<pid_t> pid = plan_.Fork();
  if (pid && *pid == 0) {
    ForgetParent();
    SetChildSignal(SIG_UNBLOCK);
    RunSessionProcess({.plan = &plan_,
                       .language = language_.get(),
                       .socket = std::move(socket),
                       .rehearsal = rehearsal});
  }
  language_->AfterFork(ForkSide::kParent);
  return pid;
}

Result<pid_t> Zygote::ForkZygote(UniqueFd& socket) {
  language_->BeforeFork();
  const pid_t pid = fork();
  if (pid == 0) {
    ForgetParent();
    control_ = std::move(socket);
    decoder_ = sandbox::MessageDecoder(sandbox::Side::kHost);
    return pid;
  }
  language_->AfterFork(ForkSide::kParent);
  if (pid < 0) return MakeErrnoError(errno, "fork");
  return pid;
}

Status Zygote::LoadContexts() {
  DOSSIER_RETURN_IF_ERROR(WatchChildren());
  std::vector<UniqueFd> fds;
  DOSSIER_ASSIGN_OR_RETURN(
      const Message message,
      sandbox::ReceiveMessage(control_.get(), decoder_, &fds, std::chrono::minutes(1)));
  DOSSIER_ASSIGN_OR_RETURN(sandbox::SessionOpening opening, sandbox::ReadOpenMessage(message));
  DOSSIER_ASSIGN_OR_RETURN(std::vector<MappedContext> contexts,
                           MapContexts(std::move(opening.contexts), fds));
  TakeDatabases(&contexts);  // are no texts
  DOSSIER_RETURN_IF_ERROR(language_->LoadTexts(contexts));
  Message opened{.type = MessageType::kOpened, .id = message.id};
  opened.json = {{"ms", 0}, {"rss", 0}, {"report", JsonObject()}};
  Report(control_.get(), opened);
  return {};
}

void Zygote::Reap() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof(info)) > 0) {
  }
  int status = 0;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    const auto child = children_.find(pid);
    if (child == children_.end()) continue;
    Message exited{.type = MessageType::kExited, .id = 0xffff'ffff'ffff'ffffull};
    exited.json = {{"pid", pid}, {"status", status}};
    Report(child->second.get(), exited);
    children_.erase(child);
  }
}

}  // namespace dossier::worker
