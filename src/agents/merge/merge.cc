#include "agents/merge/merge.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "agents/merge/checkout.h"
#include "agents/merge/ledger.h"
#include "agents/merge/publish.h"
#include "agents/merge/recover.h"
#include "agents/merge/test_fault.h"
#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

constexpr int kMaxRounds = 5;  // how often the tip may move during a merge

// Syncs what `commit` has and `base` has not to disk, in a pack, which git syncs. Syncing single
// objects would be slow, and syncing the file system would include other programs' data.
Status SyncCommit(const Git& git, const std::string& commit, const std::string& base) {
  const std::string folder = git.folders().common + "/objects/pack";
  const auto packed =
      git.Ask(git.Objects(), {.arguments = {"-c", "core.fsync=pack,pack-metadata", "pack-objects",
                                            "--revs", "-q", folder + "/pack"},
                              .input = fmt::format("{}\n^{}\n", commit, base)});
  if (!packed) return tl::unexpected(packed.error());
  const UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || fsync(fd.get()) != 0) return MakeErrnoError(errno, folder);
  return {};
}

// Returns the lock files that git leaves if killed between prepare and commit.
std::vector<std::string> LocksOf(const Git& git, const std::string& ref,
                                 const std::optional<Checkout>& checkout) {
  const std::string& head = checkout ? checkout->git_dir : git.folders().common;
  std::vector<std::string> locks = {fmt::format("{}/{}.lock", git.folders().common, ref),
                                    head + "/HEAD.lock"};
  if (checkout) locks.push_back(head + "/index.lock");
  return locks;
}

class Merger {
 public:
  Merger(const MergeRequest& request, const Git& git, const StateFolder& state,
         const MergeHooks& hooks, const CancelToken& cancel)
      : request_(request),
        git_(git.With(MergeMark(git))),
        state_(state),
        hooks_(hooks),
        cancel_(cancel) {}

  Result<MergeOutcome> Run() {
    DOSSIER_ASSIGN_OR_RETURN(const FileLock lock,
                             FileLock::Take(state_.MergeLock(), request_.lock_wait, cancel_));
    DOSSIER_RETURN_IF_ERROR(RecoverLocked(git_, state_, hooks_, cancel_));
    DOSSIER_RETURN_IF_ERROR(Verify());
    for (int round = 0; round < kMaxRounds; ++round) {
      outcome_ = {};
      DOSSIER_ASSIGN_OR_RETURN(const Next next, Round());
      if (next == Next::kDone) return std::move(outcome_);
    }
    return std::move(outcome_);
  }

 private:
  enum class Next : std::uint8_t { kGoOn, kDone, kTipMoved };

  // Checks that the candidate is still what the reviewer saw.
  Status Verify() {
    DOSSIER_ASSIGN_OR_RETURN(approved_, Diff(request_.base, request_.candidate, ""));
    if (approved_.sha256 == request_.patch_sha256) return {};
    return MakeError(ErrorCode::kCheckFailed,
                     "the patch of {} is not the approved one: {} instead of {}", request_.task,
                     approved_.sha256, request_.patch_sha256);
  }

  Result<Patch> Diff(const std::string& from, const std::string& to,
                     const std::string& file) const {
    return DiffTrees(git_, from, to,
                     {.max_patch_bytes = request_.policy->max_patch_bytes, .file = file}, cancel_);
  }

  // Runs the steps until one ends the merge.
  Result<Next> Round() {
    using Step = Result<Next> (Merger::*)();
    for (const Step step : {&Merger::FindTip, &Merger::FindCheckout, &Merger::MakeTree,
                            &Merger::JudgeTree, &Merger::MakeCommit, &Merger::Show}) {
      DOSSIER_ASSIGN_OR_RETURN(const Next next, (this->*step)());
      if (next != Next::kGoOn) return next;
    }
    return Next::kDone;
  }

  Next End(MergeStatus status, std::string reason, std::vector<std::string> paths = {}) {
    outcome_.status = status;
    if (status != MergeStatus::kMerged) outcome_.commit.clear();
    outcome_.reason = std::move(reason);
    outcome_.paths = std::move(paths);
    return Next::kDone;
  }

  Result<Next> FindTip() {
    const auto tip =
        git_.AskLine(git_.Objects(), {"rev-parse", "--verify", "--quiet", request_.ref}, cancel_);
    if (!tip) return MakeError(ErrorCode::kNotFound, "there is no branch {}", request_.ref);
    outcome_.tip = *tip;
    return Next::kGoOn;
  }

  Result<Next> FindCheckout() {
    DOSSIER_ASSIGN_OR_RETURN(const auto found, FindCheckouts(git_, request_.ref));
    checkout_.reset();
    if (CheckoutRefusal refusal = RefuseCheckouts(found, request_.ref)) {
      return End(MergeStatus::kApplyFailed, std::move(refusal.reason));
    }
    if (!found.empty()) checkout_ = found[0];
    return Next::kGoOn;
  }

  Result<Next> MakeTree() {
    if (outcome_.tip == request_.base) {
      DOSSIER_ASSIGN_OR_RETURN(
          tree_, git_.AskLine(git_.Objects(), {"rev-parse", request_.candidate + "^{tree}"}));
      return Next::kGoOn;
    }
    // Runs in the checkout, whose attributes define how its files are merged.
    const GitPlace place =
        checkout_ ? GitPlace{.git_dir = checkout_->git_dir, .work_tree = checkout_->root}
                  : git_.Objects();
    DOSSIER_ASSIGN_OR_RETURN(
        const ProcessResult merged,
        git_.Run(place,
                 {.arguments = {"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages",
                                outcome_.tip, request_.candidate}},
                 cancel_));
    if (merged.exit_code != 0 && merged.exit_code != 1) {
      return MakeError(ErrorCode::kFailed, "git merge-tree: {}", GitComplaint(merged));
    }
    std::vector<std::string> fields;
    ForEachAtNul(merged.out, [&](std::string_view field) {
      if (!field.empty()) fields.emplace_back(field);
    });
    if (merged.exit_code == 1) {
      if (!fields.empty()) fields.erase(fields.begin());
      return End(MergeStatus::kConflict,
                 fmt::format("the patch conflicts with what {} holds now", request_.ref),
                 std::move(fields));
    }
    if (fields.empty()) return MakeError(ErrorCode::kFailed, "git merge-tree printed no tree");
    tree_ = fields[0];
    return Next::kGoOn;
  }

  // Checks the diff from tip to merged tree: the policy applies to it, and a reviewer must have
  // seen it if the tip changed the same files.
  Result<Next> JudgeTree() {
    if (outcome_.tip == request_.base) {  // then it is the approved one, just verified
      patch_ = approved_;
      patch_.tree = tree_;
    } else {
      const std::string file =
          request_.folder.empty() ? "" : request_.folder + "/patch.merged.diff";
      DOSSIER_ASSIGN_OR_RETURN(patch_, Diff(outcome_.tip, tree_, file));
    }
    if (patch_.changes.empty()) {
      return End(MergeStatus::kApplyFailed,
                 fmt::format("{} holds this change already", request_.ref));
    }
    outcome_.policy = CheckPolicy(*request_.policy, request_.targets, patch_, request_.control);
    if (!outcome_.policy.ok()) {
      return End(MergeStatus::kPolicyViolation, "the merged patch breaks the policy");
    }
    // The same blobs replace the same blobs. If the tip changed one of the files, or its folder was
    // renamed so that the merge moved one, no reviewer has seen the result.
    const std::vector<PathChange>& approved = approved_.changes;
    if (patch_.changes == approved) {
      if (request_.checked_tree.value_or(tree_) == tree_) return Next::kGoOn;
      return Again(MergeStatus::kCheckAgain, "no check has passed on what would be merged", {});
    }
    std::vector<std::string> unseen;
    for (const PathChange& change : patch_.changes) {
      if (std::find(approved.begin(), approved.end(), change) == approved.end()) {
        unseen.push_back(change.path);
      }
    }
    return Again(MergeStatus::kReviewAgain,
                 fmt::format("{} changed files of the patch meanwhile", request_.ref),
                 std::move(unseen));
  }

  // Returns what would be merged, as a candidate on the tip.
  Result<Next> Again(MergeStatus status, std::string reason, std::vector<std::string> unseen) {
    patch_.base = outcome_.tip;
    patch_.tree = tree_;
    DOSSIER_ASSIGN_OR_RETURN(
        patch_.candidate,
        CommitCandidate(git_, tree_, outcome_.tip,
                        fmt::format("agent:{} candidate on {}", request_.task, outcome_.tip),
                        cancel_));
    const std::string& name = request_.task_name.empty() ? request_.task : request_.task_name;
    const std::string ref = fmt::format(
        "{}-on-{}", CandidateRef(request_.run, name, request_.attempt), outcome_.tip.substr(0, 12));
    DOSSIER_RETURN_IF_ERROR(WriteRef(ref, patch_.candidate));
    outcome_.again = std::move(patch_);
    return End(status, std::move(reason), std::move(unseen));
  }

  Status WriteRef(const std::string& ref, const std::string& commit) const {
    if (request_.guard) return request_.guard->WriteRef(ref, commit);
    return git_.Ask(git_.Objects(), {.arguments = {"update-ref", ref, commit}})
        .transform([](const std::string&) {});
  }

  Result<Next> MakeCommit() {
    std::vector<std::string> arguments = {"commit-tree", tree_, "-p", outcome_.tip, "-F", "-"};
    const auto sign = git_.AskLine(git_.Common(), {"config", "--type=bool", "commit.gpgSign"});
    const bool signs = sign && *sign == "true";
    if (signs) arguments.insert(arguments.begin() + 1, "-S");
    DOSSIER_ASSIGN_OR_RETURN(
        const ProcessResult made,
        git_.Run(git_.Common(),
                 {.arguments = std::move(arguments),
                  .input = Message(),
                  .starts = signs ? GitCall::Starts::kSigner : GitCall::Starts::kNothing},
                 cancel_));
    if (made.exit_code != 0) return End(MergeStatus::kCommitFailed, GitComplaint(made));
    outcome_.commit = TrimSpace(made.out);
    return Next::kGoOn;
  }

  std::string Message() const {
    std::string id = request_.task;
    std::replace_if(
        id.begin(), id.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    return fmt::format("agent:{} merge\n\nDossier-Run: {}\nDossier-Patch-SHA256: {}\n", id,
                       request_.run, request_.patch_sha256);
  }

  Intent MakeIntent() const {
    Intent intent{.run = request_.run,
                  .task = request_.task,
                  .ref = request_.ref,
                  .old_commit = outcome_.tip,
                  .new_commit = outcome_.commit,
                  .checkout = checkout_,
                  .locks = LocksOf(git_, request_.ref, checkout_),
                  .ledger_line = LedgerLine({.time = request_.now,
                                             .task = request_.task,
                                             .note = request_.note,
                                             .patch_sha256 = request_.patch_sha256}),
                  .ledger_file = LedgerFile(request_.ledger_root, state_)};
    for (const PathChange& change : patch_.changes) intent.paths.push_back(change.path);
    SignIntent(&intent);
    return intent;
  }

  // From here on the merge is completed even if cancelled.
  Result<Next> Show() {
    const Intent intent = MakeIntent();
    const Publication publication{.git = git_,
                                  .state = state_,
                                  .intent = intent,
                                  .changes = patch_.changes,
                                  .index_wait = request_.index_wait};
    DOSSIER_ASSIGN_OR_RETURN(CheckoutRefusal refusal, CanPublish(publication, cancel_));
    if (refusal) {
      return End(MergeStatus::kApplyFailed, std::move(refusal.reason), std::move(refusal.paths));
    }
    DOSSIER_RETURN_IF_ERROR(SyncCommit(git_, outcome_.commit, outcome_.tip));
    DOSSIER_RETURN_IF_ERROR(intents_.Open(intent));
    TestFault("after-intent");
    if (hooks_.intent_written) DOSSIER_RETURN_IF_ERROR(hooks_.intent_written(intent));
    if (request_.guard) request_.guard->Expect(intent.ref, intent.new_commit);
    DOSSIER_ASSIGN_OR_RETURN(Published published, Publish(publication));
    if (!published.refusal) {
      DOSSIER_RETURN_IF_ERROR(Finish(intent, intents_, hooks_));
      return End(MergeStatus::kMerged, "");
    }
    return NotShown(std::move(published));
  }

  Result<Next> NotShown(Published published) {
    if (!published.rolled_back) {
      return MakeError(ErrorCode::kFailed, "{}; the record of the merge stays for `resume`",
                       published.refusal.reason);
    }
    DOSSIER_RETURN_IF_ERROR(intents_.Close());
    const auto tip = git_.AskLine(git_.Objects(), {"rev-parse", "--verify", request_.ref});
    End(MergeStatus::kApplyFailed, std::move(published.refusal.reason),
        std::move(published.refusal.paths));
    return tip && *tip != outcome_.tip ? Next::kTipMoved : Next::kDone;
  }

  const MergeRequest& request_;
  const Git git_;
  const StateFolder& state_;
  const MergeHooks& hooks_;
  const CancelToken& cancel_;
  IntentLog intents_{state_};
  Patch approved_;
  std::optional<Checkout> checkout_;
  std::string tree_;
  Patch patch_;  // from the tip to tree_
  MergeOutcome outcome_;
};

}  // namespace

Result<MergeOutcome> Merge(const MergeRequest& request, const Git& git, const StateFolder& state,
                           const MergeHooks& hooks, const CancelToken& cancel) {
  return Merger(request, git, state, hooks, cancel).Run();
}

}  // namespace dossier::agents
