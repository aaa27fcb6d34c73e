#include "agents/merge/recover.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>
#include <thread>

#include "agents/merge/publish.h"
#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

namespace fs = std::filesystem;

constexpr Millis kPatience(10'000);  // for processes that are about to end

bool HasLocks(const Intent& intent) {
  return std::any_of(intent.locks.begin(), intent.locks.end(), Exists);
}

// Returns the first process that is in the way: a git of the killed merge; if there are locks, any
// git running in the checkout, since the locks may be its own.
std::optional<int> FindHolder(const Intent& intent, const std::string& mark) {
  const std::string root = intent.checkout && HasLocks(intent) ? intent.checkout->root : "";
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    int pid = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (read.ptr != name.data() + name.size() || pid == getpid()) continue;
    const auto environment = ReadFile(entry->path() / "environ", 4 << 20);
    if (environment &&
        (std::string(1, '\0') + *environment).find('\0' + mark + '\0') != std::string::npos) {
      return pid;
    }
    const auto program = ReadFile(entry->path() / "comm", 4096);
    if (!program || TrimSpace(*program) != "git") continue;
    std::error_code hidden;
    if (IsBelow(fs::read_symlink(entry->path() / "cwd", hidden).string(), root)) return pid;
  }
  return std::nullopt;
}

Status WaitForHolders(const Intent& intent, const std::string& mark) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (const auto pid = FindHolder(intent, mark)) {
    if (std::chrono::steady_clock::now() >= until) {
      return MakeError(ErrorCode::kLocked,
                       "a merge of {} was killed, but a git still works on {} (process {}): wait "
                       "for it, or end it",
                       intent.task, intent.ref, *pid);
    }
    std::this_thread::sleep_for(Millis(20));  // no notification exists for another process's child
  }
  return {};
}

Error WentElsewhere(const Intent& intent, const std::string& tip, const std::string& file) {
  return {ErrorCode::kFailed,
          fmt::format("a merge of {} was killed while {} was to move from {} to {}, and now it is "
                      "at {}: nothing was touched. To keep it there: rm '{}'. To take the merge: "
                      "git merge {}, then rm '{}'",
                      intent.task, intent.ref, intent.old_commit, intent.new_commit, tip, file,
                      intent.new_commit, file)};
}

class Recovery {
 public:
  Recovery(const Git& git, const StateFolder& state, const MergeHooks& hooks,
           const CancelToken& cancel)
      : git_(git.With(MergeMark(git))), state_(state), hooks_(hooks), cancel_(cancel) {}

  Result<RecoveryReport> Run() {
    DOSSIER_ASSIGN_OR_RETURN(const std::optional<Intent> intent, intents_.Read());
    if (!intent) return RecoveryReport{};
    report_.run = intent->run;
    report_.task = intent->task;
    report_.commit = intent->new_commit;
    DOSSIER_RETURN_IF_ERROR(WaitForHolders(*intent, MergeMark(git_)));
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string tip,
        git_.AskLine(git_.Objects(), {"rev-parse", "--verify", intent->ref}, cancel_));
    DOSSIER_ASSIGN_OR_RETURN(const bool merged,
                             IsMerged(git_, intent->ref, intent->new_commit, cancel_));
    if (!merged && tip != intent->old_commit) {
      return tl::unexpected(WentElsewhere(*intent, tip, intents_.file()));
    }
    for (const std::string& lock : intent->locks) DOSSIER_RETURN_IF_ERROR(RemoveAll(lock));
    if (merged) return Finished(*intent);
    return StartAgain(*intent);
  }

 private:
  Result<RecoveryReport> Finished(const Intent& intent) {
    DOSSIER_RETURN_IF_ERROR(Finish(intent, intents_, hooks_));
    report_.kind = RecoveryKind::kMerged;
    return std::move(report_);
  }

  Result<RecoveryReport> StartAgain(const Intent& intent) {
    DOSSIER_ASSIGN_OR_RETURN(
        const Patch patch,
        DiffTrees(git_, intent.old_commit, intent.new_commit,
                  {.max_patch_bytes = std::numeric_limits<std::uint32_t>::max()}, cancel_));
    const Publication publication{.git = git_,
                                  .state = state_,
                                  .intent = intent,
                                  .changes = patch.changes,
                                  .index_wait = kPatience};
    if (intent.checkout) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string rescue, state_.Rescued(intent.run));
      DOSSIER_ASSIGN_OR_RETURN(report_.rescued, PutBack(git_, MoveOf(publication), rescue));
    }
    DOSSIER_ASSIGN_OR_RETURN(CheckoutRefusal refusal, CanPublish(publication, cancel_));
    if (!refusal) {
      DOSSIER_ASSIGN_OR_RETURN(Published published, Publish(publication));
      if (!published.refusal) return Finished(intent);
      if (!published.rolled_back) {
        return MakeError(ErrorCode::kFailed, "{}", published.refusal.reason);
      }
      refusal = std::move(published.refusal);
    }
    DOSSIER_RETURN_IF_ERROR(intents_.Close());
    report_.kind = RecoveryKind::kNotMerged;
    report_.reason = std::move(refusal.reason);
    report_.paths = std::move(refusal.paths);
    return std::move(report_);
  }

  const Git git_;
  const StateFolder& state_;
  const MergeHooks& hooks_;
  const CancelToken& cancel_;
  IntentLog intents_{state_};
  RecoveryReport report_;
};

}  // namespace

Result<bool> IsMerged(const Git& git, const std::string& ref, const std::string& commit,
                      const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(
      const ProcessResult result,
      git.Run(git.Objects(), {.arguments = {"merge-base", "--is-ancestor", commit, ref}}, cancel));
  if (result.exit_code > 1 || result.exit_code < 0) {
    return MakeError(ErrorCode::kFailed, "git merge-base: {}", GitComplaint(result));
  }
  return result.exit_code == 0;
}

Result<RecoveryReport> RecoverLocked(const Git& git, const StateFolder& state,
                                     const MergeHooks& hooks, const CancelToken& cancel) {
  return Recovery(git, state, hooks, cancel).Run();
}

Result<RecoveryReport> Recover(const Git& git, const StateFolder& state, const MergeHooks& hooks,
                               const CancelToken& cancel, Millis lock_wait) {
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock,
                           FileLock::Take(state.MergeLock(), lock_wait, cancel));
  return RecoverLocked(git, state, hooks, cancel);
}

}  // namespace dossier::agents
