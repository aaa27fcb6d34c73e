#include "agents/merge/publish.h"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agents/git/git.h"
#include "agents/merge/ledger.h"
#include "agents/merge/test_fault.h"
#include "base/files/file.h"
#include "base/process/child.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

// Moves a branch in two steps, so that files can move between them.
//
//   DOSSIER_ASSIGN_OR_RETURN(RefTransaction move, RefTransaction::Prepare(git, place, update));
//   … the branch and HEAD are locked: a commit by hand fails cleanly …
//   DOSSIER_RETURN_IF_ERROR(move.Commit());
//
// It is a `git update-ref --stdin` that waits for us. If this process is killed, git reads the end
// of its input and releases the locks. Ownership: destroyed without Commit, it aborts.

struct RefUpdate {
  std::string ref, new_commit, old_commit;
  std::string message;  // for the reflog
};

class RefTransaction {
 public:
  // Errors: kFailed with git's message: the branch is not at `old_commit`, or another process holds
  // its lock; kTimeout.
  static Result<RefTransaction> Prepare(const Git& git, const GitPlace& place,
                                        const RefUpdate& update);
  RefTransaction(RefTransaction&& other) noexcept;
  RefTransaction& operator=(RefTransaction&&) = delete;
  ~RefTransaction();

  Status Commit();

 private:
  RefTransaction() = default;
  Status Start(const ProcessSpec& spec);
  // Sends `command` and waits for "<name>: ok".
  Status Say(std::string_view command, std::string_view name);
  void End();

  pid_t pid_ = -1;
  UniqueFd in_, out_, err_;
  std::string unread_;
};

using internal::MakePipe, internal::Pipe;

constexpr int kPatienceMillis = 30'000;  // git waits at most 1 s for the lock of a loose ref

// Sets up a child's descriptors and folder.
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
  // A socket instead of a pipe, so that writing to an ended git gives an error and no signal.
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

// At the end of its input git aborts what is not committed.
void RefTransaction::End() {
  if (pid_ < 0) return;
  in_.Reset();
  internal::WaitFor(std::exchange(pid_, -1), nullptr);
}

Result<Published> RollBack(const Publication& publication, CheckoutRefusal refusal) {
  // Nobody was killed, so what is neither commit's is what a person has just saved: it stays.
  const auto back = PutBack(publication.git, MoveOf(publication), std::nullopt);
  if (!back) {
    refusal.reason += fmt::format("; and it could not be undone: {}", back.error().message);
    return Published{.refusal = std::move(refusal), .rolled_back = false};
  }
  if (!back->empty()) {
    refusal.reason +=
        fmt::format("; changed meanwhile and left as they are: {}", Join(*back, ", "));
  }
  return Published{.refusal = std::move(refusal)};
}

}  // namespace

std::string MergeMark(const Git& git) { return "DOSSIER_MERGE=" + git.folders().common; }

CheckoutMove MoveOf(const Publication& publication) {
  const Intent& intent = publication.intent;
  return {.checkout = intent.checkout.value_or(Checkout{}),
          .old_commit = intent.old_commit,
          .new_commit = intent.new_commit,
          .changes = publication.changes};
}

Result<CheckoutRefusal> CanPublish(const Publication& publication, const CancelToken& cancel) {
  const auto& checkout = publication.intent.checkout;
  if (!checkout) return CheckoutRefusal{};
  if (CheckoutRefusal busy = RefuseBusy(*checkout)) return busy;
  if (CheckoutRefusal busy = WaitForIndex(*checkout, publication.index_wait)) return busy;
  return WouldRefuse(publication.git, publication.state, MoveOf(publication), cancel);
}

Result<Published> Publish(const Publication& publication) {
  const Intent& intent = publication.intent;
  const GitPlace place{.git_dir = intent.checkout ? intent.checkout->git_dir
                                                  : publication.git.folders().common};
  auto transaction =
      RefTransaction::Prepare(publication.git, place,
                              {.ref = intent.ref,
                               .new_commit = intent.new_commit,
                               .old_commit = intent.old_commit,
                               .message = fmt::format("agent:{} merge", intent.task)});
  if (!transaction) return Published{.refusal = {.reason = transaction.error().message}};
  TestFault("after-prepare");
  if (intent.checkout) {
    // The branch is locked now; before this, somebody may have switched to another one.
    if (!IsOn(*intent.checkout, intent.ref)) {
      return Published{.refusal = {.reason = fmt::format("{} is no longer on {}",
                                                         intent.checkout->root, intent.ref)}};
    }
    Result<CheckoutRefusal> moved = MoveCheckout(publication.git, MoveOf(publication));
    if (!moved) moved = CheckoutRefusal{.reason = moved.error().message};
    if (*moved) return RollBack(publication, std::move(*moved));
  }
  TestFault("after-tree");
  if (const Status committed = transaction->Commit(); !committed) {
    CheckoutRefusal refusal{.reason = committed.error().message};
    if (!intent.checkout) return Published{.refusal = std::move(refusal)};
    return RollBack(publication, std::move(refusal));
  }
  TestFault("after-ref");
  return Published{};
}

Status Finish(const Intent& intent, IntentLog& intents, const MergeHooks& hooks) {
  if (hooks.merged) DOSSIER_RETURN_IF_ERROR(hooks.merged(intent));
  DOSSIER_RETURN_IF_ERROR(AppendLedger(intent.ledger_file, intent.ledger_line));
  TestFault("after-ledger");
  return intents.Close();
}

}  // namespace dossier::agents
