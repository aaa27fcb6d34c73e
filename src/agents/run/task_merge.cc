#include "agents/run/task_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "agents/merge/checkout.h"
#include "agents/merge/merge.h"
#include "agents/merge/recover.h"
#include "agents/task/refusal_note.h"
#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

using MergeNext = AttemptEnd::Next;

constexpr int kMaxReviewsAgain = 5;           // how often the branch may move after one approval
constexpr Millis kMergeWait{15 * 60 * 1000};  // time for the merges of all other workers

JsonObject MergedEvent(const Intent& intent) {
  return {{"ref", intent.ref}, {"old", intent.old_commit}, {"commit", intent.new_commit}};
}

JsonObject IntentEvent(const Intent& intent, std::string_view patch_sha256) {
  return {{"ref", intent.ref},
          {"old", intent.old_commit},
          {"new", intent.new_commit},
          {"patch_sha256", patch_sha256}};
}

// Reads the hash from the ledger line: the intent has no field for it.
std::string_view PatchHashOf(const Intent& intent) {
  constexpr std::string_view kField = "patch_sha256=";
  const std::string_view line = intent.ledger_line;
  const std::size_t at = line.rfind(kField);
  return at == std::string_view::npos ? "" : TrimSpace(line.substr(at + kField.size()));
}

// Records the merge in the log of the run that began it, unless it is there already; also the
// intent, if the run was killed before logging it. A run whose journal is gone cannot be resumed
// anyway.
Status RecordElsewhere(const RunLogPlaces& places, const Intent& intent) {
  std::vector<store::Event> events;
  const auto log = AgentLog::Reopen(places, intent.run, &events);
  if (!log)
    return log.error().code == ErrorCode::kNotFound ? Status() : tl::unexpected(log.error());
  bool intended = false;
  for (const store::Event& event : events) {
    const Json data(event.data);
    if (event.type == "merge.done" && FindString(data, "commit") == intent.new_commit) return {};
    intended |= event.type == "merge.intent" && FindString(data, "new") == intent.new_commit;
  }
  if (!intended) {
    DOSSIER_RETURN_IF_ERROR(
        (*log)->Add("merge.intent", intent.task, IntentEvent(intent, PatchHashOf(intent))));
  }
  return (*log)->Add("merge.done", intent.task, MergedEvent(intent));
}

class Merging {
 public:
  Merging(Work& work, const AttemptPlace& place, AttemptEnd approved, TaskResult* result)
      : work_(work), place_(place), end_(std::move(approved)), result_(*result) {
    const bool again = work.options.merge_checks == RunOptions::MergeChecks::kAgain;
    if (again && !work.agents.checks.empty()) checked_tree_ = "";
  }

  Result<AttemptEnd> Run() {
    for (int round = 1; round <= kMaxReviewsAgain; ++round) {
      const auto merged = Merge(Request(), work_.git, work_.state, Hooks(), work_.stop);
      if (!merged && merged.error().code == ErrorCode::kCancelled) {
        return End(MergeNext::kEnd, TaskStatus::kInterrupted, merged.error().message);
      }
      if (!merged) return tl::unexpected(merged.error());
      const bool review = merged->status == MergeStatus::kReviewAgain;
      if (!review && merged->status != MergeStatus::kCheckAgain) return Judge(*merged);
      DOSSIER_ASSIGN_OR_RETURN(const bool good,
                               review ? ReviewAgain(*merged, round) : CheckAgain(*merged));
      if (!good) return std::move(end_);
    }
    return End(
        MergeNext::kRetry, TaskStatus::kApplyFailed,
        fmt::format("{} moved {} times during checks and reviews", work_.ref, kMaxReviewsAgain));
  }

 private:
  MergeRequest Request() const {
    const Patch& patch = *end_.patch;
    return {.run = work_.run(),
            .task = place_.task->id,
            .task_name = place_.task_name,
            .attempt = static_cast<int>(place_.attempt),
            .ref = work_.ref,
            .base = patch.base,
            .candidate = patch.candidate,
            .patch_sha256 = patch.sha256,
            .policy = &work_.policy,
            .targets = place_.task->targets,
            .control = work_.control,
            .checked_tree = checked_tree_,
            .note = ReadyNote(work_.root, work_.agents.notes, place_.task->id),
            .ledger_root = work_.root,
            .folder = place_.folder,
            .now = work_.clock->WallNow(),
            .guard = &work_.guard.guard(),
            .lock_wait = kMergeWait};
  }

  MergeHooks Hooks() {
    return {.intent_written = [this](const Intent& intent) -> Status {
              return work_.log.Add("merge.intent", intent.task,
                                   IntentEvent(intent, end_.patch->sha256));
            },
            .merged = [this](const Intent& intent) -> Status {
              if (intent.run != work_.run()) {
                return RecordElsewhere(work_.log.places(), intent);
              }
              return work_.log.Add("merge.done", intent.task, MergedEvent(intent));
            }};
  }

  AttemptEnd End(MergeNext next, TaskStatus status, std::string reason) {
    end_.next = next;
    end_.status = status;
    end_.reason = std::move(reason);
    end_.feedback.clear();
    return std::move(end_);
  }

  Result<AttemptEnd> Judge(const MergeOutcome& outcome) {
    std::string reason = outcome.reason;
    if (!outcome.paths.empty()) reason += ": " + Join(outcome.paths, ", ");
    switch (outcome.status) {
      case MergeStatus::kMerged:
        result_.commit = outcome.commit;
        DOSSIER_RETURN_IF_ERROR(
            work_.log.Add("ledger.appended", place_.task->id, {{"commit", outcome.commit}}));
        return End(MergeNext::kEnd, TaskStatus::kMerged, fmt::format("merged into {}", work_.ref));
      case MergeStatus::kConflict:
        return End(MergeNext::kRetry, TaskStatus::kApplyFailed, std::move(reason));
      case MergeStatus::kCommitFailed:
        return End(MergeNext::kEnd, TaskStatus::kCommitFailed, std::move(reason));
      case MergeStatus::kPolicyViolation: {
        result_.violations = outcome.policy.violations;
        AttemptEnd end = End(MergeNext::kRetry, TaskStatus::kPolicyViolation, std::move(reason));
        end.feedback = ViolationsText(outcome.policy.violations);
        return end;
      }
      case MergeStatus::kApplyFailed:
      case MergeStatus::kReviewAgain:
      case MergeStatus::kCheckAgain:
        break;
    }
    if (!outcome.paths.empty()) {
      reason += fmt::format(
          "; commit, stash or move them away, then `dossier agents merge {}` merges the patch",
          place_.task->id);
    }
    return End(MergeNext::kEnd, TaskStatus::kApplyFailed, std::move(reason));
  }

  // The branch changed files of the patch, so the merged form was not approved. Returns true if it
  // is approved now; else end_ has the result.
  Result<bool> ReviewAgain(const MergeOutcome& outcome, int round) {
    const bool checks = work_.options.merge_checks != RunOptions::MergeChecks::kNone;
    if (checks) {
      DOSSIER_ASSIGN_OR_RETURN(const bool good, CheckAgain(outcome));
      if (!good) return false;
    }
    end_.patch = outcome.again;
    result_.patch_sha256 = outcome.again.sha256;
    result_.patch_file = outcome.again.file;
    DOSSIER_ASSIGN_OR_RETURN(end_,
                             Attempt(work_, place_, &result_)
                                 .Reviewed(fmt::format("reviewer-{}", round + 1), std::move(end_)));
    if (end_.next != MergeNext::kMerge) return false;
    DOSSIER_RETURN_IF_ERROR(LogApproval(work_, place_, *end_.patch));
    return true;
  }

  // Returns true if the checks pass on the merged form; else end_ has the result.
  Result<bool> CheckAgain(const MergeOutcome& outcome) {
    DOSSIER_ASSIGN_OR_RETURN(AttemptEnd checked,
                             Attempt(work_, place_, &result_).Checked(outcome.again));
    if (checked.next == MergeNext::kMerge) {
      end_.checks = checked.checks;
      if (checked_tree_) checked_tree_ = outcome.again.tree;
      return true;
    }
    checked.patch = std::move(end_.patch);
    end_ = std::move(checked);
    return false;
  }

  Work& work_;
  const AttemptPlace& place_;
  AttemptEnd end_;
  TaskResult& result_;
  std::optional<std::string> checked_tree_;  // unset: the attempt's tree is used
};

}  // namespace

Status LogApproval(Work& work, const AttemptPlace& place, const Patch& patch) {
  return work.log.Add("approval.accepted", place.task->id,
                      {{"attempt", place.attempt},
                       {"base", patch.base},
                       {"candidate", patch.candidate},
                       {"patch_sha256", patch.sha256},
                       {"reviewer", work.reviewer_name}});
}

Result<AttemptEnd> MergeTask(Work& work, const AttemptPlace& place, AttemptEnd approved,
                             TaskResult* result) {
  return Merging(work, place, std::move(approved), result).Run();
}

Result<std::string> LocalChanges(const Work& work, const sources::Task& task) {
  std::vector<std::string> call = {"status",    "--porcelain", "-z", "--no-renames",
                                   "--ignored", "-uall",       "--"};
  const std::size_t without = call.size();
  std::set<std::string> names;
  // Another worker's merge changes the checkout, too.
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock,
                           FileLock::Take(work.state.MergeLock(), kMergeWait, work.stop));
  DOSSIER_ASSIGN_OR_RETURN(const auto checkouts, FindCheckouts(work.git, work.ref));
  if (checkouts.size() != 1) return std::string();
  const Checkout& checkout = checkouts.front();
  for (const std::string& target : task.targets) {
    const std::filesystem::path path = std::filesystem::path(target).lexically_normal();
    std::error_code error;
    if (std::filesystem::is_directory(std::filesystem::path(checkout.root) / path, error)) continue;
    names.insert(path.string());
    call.push_back(":(literal,top)" + path.string());
  }
  if (call.size() == without) return std::string();
  DOSSIER_ASSIGN_OR_RETURN(const std::string changed,
                           work.git.Ask({.git_dir = checkout.git_dir, .work_tree = checkout.root},
                                        {.arguments = std::move(call)}, work.stop));
  for (const std::string_view line : Split(changed, '\0')) {  // "XY path"
    if (line.size() < 4 || !names.contains(std::string(line.substr(3)))) continue;
    return fmt::format(
        "{} has changes in {} that are not committed; commit, stash or move them away first",
        line.substr(3), checkout.root);
  }
  return std::string();
}

Status RecoverFirst(const RunGround& ground, const RunPorts& ports) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, RunLogFolder(ports));
  const RunLogPlaces places{.runs_folder = folder,
                            .journal_folder = ports.journal_folder,
                            .clock = ports.clock,
                            .secrets = {},
                            .watch = {}};
  const MergeHooks hooks{.intent_written = {}, .merged = [&](const Intent& intent) {
                           return RecordElsewhere(places, intent);
                         }};
  DOSSIER_ASSIGN_OR_RETURN(const RecoveryReport report,
                           Recover(ground.git, ground.state, hooks, ports.cancel));
  if (!ports.warn || report.kind == RecoveryKind::kNothing) return {};
  ports.warn(report.kind == RecoveryKind::kMerged
                 ? fmt::format("the merge of {} that a stopped run had begun is finished: {}",
                               report.task, report.commit)
                 : fmt::format("the merge of {} that a stopped run had begun was taken back: {}",
                               report.task, report.reason));
  for (const std::string& path : report.rescued) ports.warn("kept a copy: " + path);
  return {};
}

}  // namespace dossier::agents
