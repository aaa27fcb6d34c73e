#include "agents/git/ref_transaction.h"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "base/process/child.h"

namespace dossier::agents {
namespace {

using internal::MakePipe, internal::Pipe;

constexpr int kPatienceMillis = 30'000;  // git waits 1 s at most for a lock of a loose ref

// Where a child's descriptors and folder come from.
class Actions {
 public:
  Actions() { posix_spawn_file_actions_init(&actions_); }
  ~Actions() { posix_spawn_file_actions_destroy(&actions_); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;

  void Connect(int fd, int as) { posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  void WorkIn(const char* folder) { posix_spawn_file_actions_addchdir_np(&actions_, folder); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

std::string ReadToEnd(int fd) {
  std::string text;
  char block[4096];
  for (ssize_t got = 0; (got = read(fd, block, sizeof(block))) > 0 && text.size() < 65536;) {
    text.append(block, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

Result<RefTransaction> RefTransaction::Prepare(const Git& git, const GitPlace& place,
                                               const RefUpdate& update) {
  DOSSIER_ASSIGN_OR_RETURN(
      const ProcessSpec spec,
      git.Plan(place, {.arguments = {"-c", "core.fsync=committed,reference", "update-ref", "-m",
                                     update.message, "--stdin"}}));
  RefTransaction transaction;
  DOSSIER_RETURN_IF_ERROR(transaction.Start(spec));
  DOSSIER_RETURN_IF_ERROR(transaction.Say("start\n", "start"));
  DOSSIER_RETURN_IF_ERROR(transaction.Say(
      fmt::format("update {} {} {}\nprepare\n", update.ref, update.new_commit, update.old_commit),
      "prepare"));
  return transaction;
}

RefTransaction::RefTransaction(RefTransaction&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)),
      unread_(std::move(other.unread_)) {}

RefTransaction::~RefTransaction() { End(); }

Status RefTransaction::Start(const ProcessSpec& spec) {
  DOSSIER_ASSIGN_OR_RETURN(internal::ChildPlan plan, internal::PlanChild(spec));
  DOSSIER_ASSIGN_OR_RETURN(Pipe out, MakePipe());
  DOSSIER_ASSIGN_OR_RETURN(Pipe err, MakePipe());
  // A socket and no pipe, so that writing to a git that ended is an error and no signal.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return MakeErrnoError(errno, "socketpair");
  }
  in_ = internal::AboveStandard(ends[0]);
  const UniqueFd theirs = internal::AboveStandard(ends[1]);
  Actions actions;
  actions.Connect(theirs.get(), 0);
  actions.Connect(out.write.get(), 1);
  actions.Connect(err.write.get(), 2);
  actions.WorkIn(plan.folder);
  const int failure = posix_spawn(&pid_, plan.program.c_str(), actions.get(), nullptr,
                                  plan.argv.data(), plan.environment.data());
  if (failure != 0) {
    pid_ = -1;
    return tl::unexpected(internal::StartError(failure, plan.program));
  }
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  return {};
}

Status RefTransaction::Say(std::string_view command, std::string_view name) {
  const std::string answer = fmt::format("{}: ok\n", name);
  bool alive = send(in_.get(), command.data(), command.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(command.size());
  while (alive && unread_.find(answer) == std::string::npos) {
    pollfd wait{out_.get(), POLLIN, 0};
    const int ready = poll(&wait, 1, kPatienceMillis);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      return MakeError(ErrorCode::kTimeout, "git update-ref did not answer in {} s",
                       kPatienceMillis / 1000);
    }
    char block[4096];
    const ssize_t got = read(out_.get(), block, sizeof(block));
    alive = got > 0 || (got < 0 && errno == EINTR);
    if (got > 0) unread_.append(block, static_cast<std::size_t>(got));
  }
  if (alive) {
    unread_.erase(0, unread_.find(answer) + answer.size());
    return {};
  }
  ProcessResult ended;
  ended.err = ReadToEnd(err_.get());
  return MakeError(ErrorCode::kFailed, "git update-ref: {}", GitComplaint(ended));
}

Status RefTransaction::Commit() {
  const Status committed = Say("commit\n", "commit");
  End();
  return committed;
}

void RefTransaction::Abort() { End(); }

// The end of its input makes git abort what is not committed.
void RefTransaction::End() {
  if (pid_ < 0) return;
  in_.Reset();
  internal::WaitFor(std::exchange(pid_, -1), nullptr);
}

}  // namespace dossier::agents
