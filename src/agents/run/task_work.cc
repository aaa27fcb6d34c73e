#include "agents/run/task_work.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "agents/git/git.h"
#include "agents/git/git_dir_guard.h"
#include "agents/git/patch.h"
#include "agents/git/state_folder.h"
#include "agents/merge/ledger.h"
#include "agents/merge/recover.h"
#include "agents/merge/test_fault.h"
#include "agents/run/task_merge.h"
#include "agents/run/task_queue.h"
#include "agents/task/refusal_note.h"
#include "agents/task/task_json.h"
#include "base/files/file.h"
#include "base/result.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/header/task.h"

namespace dossier::agents {
namespace {

// Makes a branch of an approved patch, for people to review, with the text of a pull request.

struct TaskBranchRequest {
  std::string run;
  const sources::Task* task = nullptr;
  std::string task_name;  // the id, as used in file and ref names
  const Patch* patch = nullptr;
  std::string checks;  // output of the checks
  std::string reviewer;
  std::string folder;            // for the text
  GitDirGuard* guard = nullptr;  // not owned; is told that the branch is ours
};

struct TaskBranch {
  std::string branch;     // without refs/heads/
  std::string commit;     // empty: git refused to make it; see `complaint`
  std::string text_file;  // Markdown
  std::string complaint;
};

std::string BranchOf(const std::string& task_name) { return "agent/" + task_name; }

// Makes one line without control characters, for a commit.
std::string OneLine(std::string_view text) {
  std::string line = utf8::Sanitize(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return std::string(TrimSpace(line));
}

std::string Message(const TaskBranchRequest& request) {
  return fmt::format("agent:{} {}\n\nDossier-Run: {}\nDossier-Patch-SHA256: {}\n",
                     OneLine(request.task->id), OneLine(request.task->summary), request.run,
                     request.patch->sha256);
}

// Puts paths and names in code spans, so that nothing in them is markup.
std::string Span(std::string_view text) {
  std::string line = OneLine(text);
  std::string fence = "`";
  while (line.find(fence) != std::string::npos) fence += '`';
  return fmt::format("{0}{1}{2}{1}{0}", fence, fence.size() > 1 ? " " : "", line);
}

std::string PullRequestText(const TaskBranchRequest& request) {
  const sources::Task& task = *request.task;
  const Patch& patch = *request.patch;
  std::string text = fmt::format("# {}\n\n", OneLine(task.summary));
  if (!TrimSpace(task.description).empty()) {
    text += fmt::format("{}\n\n", TrimSpace(utf8::Sanitize(task.description)));
  }
  text +=
      fmt::format("Task {}, +{} -{} in {} file{}:\n\n", Span(task.id), patch.stat.added,
                  patch.stat.deleted, patch.changes.size(), patch.changes.size() == 1 ? "" : "s");
  for (const PathChange& change : patch.changes) text += fmt::format("- {}\n", Span(change.path));
  if (!request.checks.empty()) text += "\nChecks:\n\n";
  for (const std::string_view line : Split(TrimSpace(request.checks), '\n')) {
    if (!line.empty()) text += fmt::format("- {}\n", Span(line));
  }
  text += fmt::format("\nApproved by {} in run {}; patch {}.\n", Span(request.reviewer),
                      request.run, patch.sha256);
  return text;
}

// Errors: kFailed (git), kIo.
Result<TaskBranch> MakeTaskBranch(const Git& git, const TaskBranchRequest& request) {
  TaskBranch made{.branch = BranchOf(request.task_name),
                  .text_file = request.folder + "/pull-request.md"};
  DOSSIER_RETURN_IF_ERROR(
      WriteStateFile(made.text_file, PullRequestText(request), Durability::kSurvivesCrash));
  DOSSIER_ASSIGN_OR_RETURN(
      const ProcessResult commit,
      git.Run(git.Common(), {.arguments = {"commit-tree", request.patch->candidate + "^{tree}",
                                           "-p", request.patch->base, "-F", "-"},
                             .input = Message(request)}));
  if (commit.exit_code != 0) {
    made.complaint = GitComplaint(commit);
    return made;
  }
  const std::string hash(TrimSpace(commit.out));
  if (request.guard) request.guard->Expect("refs/heads/" + made.branch, hash);
  // Only if no branch has that name: nobody's branch is moved.
  DOSSIER_ASSIGN_OR_RETURN(
      const ProcessResult ref,
      git.Run(git.Common(), {.arguments = {"update-ref", "refs/heads/" + made.branch, hash,
                                           std::string(hash.size(), '0')}}));
  if (ref.exit_code != 0) {
    made.complaint = GitComplaint(ref);
    return made;
  }
  made.commit = hash;
  return made;
}

// Returns why a task is not worked on again: its branch exists. Unset if it does not, or if
// `merged_into` (empty: no ref) contains its content.
Result<std::optional<std::string>> WaitsOnBranch(const Git& git, const std::string& task_name,
                                                 const std::string& merged_into) {
  const std::string branch = BranchOf(task_name);
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult found,
                           git.Run(git.Objects(), {.arguments = {"rev-parse", "--verify", "--quiet",
                                                                 "refs/heads/" + branch}}));
  if (found.exit_code != 0) return std::nullopt;
  if (!merged_into.empty()) {
    // Prints a line per commit of the branch; "+": the ref has neither it nor its change.
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string commits,
        git.Ask(git.Objects(), {.arguments = {"cherry", merged_into, "refs/heads/" + branch}}));
    if (commits.find('+') == std::string::npos) return std::nullopt;
  }
  return fmt::format("waits on branch {}: merge it, or delete it to have it done again", branch);
}

using Next = AttemptEnd::Next;

// True for failures that a person or another engine can fix: they get a note.
bool IsRefusal(TaskStatus status) {
  return status == TaskStatus::kNeedsFix || status == TaskStatus::kPolicyViolation;
}

}  // namespace

TaskWork::TaskWork(Work& work, const sources::Task& task, TaskStart start)
    : work_(work),
      task_(task),
      start_(std::move(start)),
      name_(sources::FileNameOfId(task.id)),
      file_(task.file),
      begun_(work.clock->Now()) {
  result_.id = task.id;
  result_.summary = task.summary;
  result_.targets = task.targets;
  result_.confinement = work.walls;
  result_.digest = TaskDigest(task);
}

Result<TaskResult> TaskWork::Run() {
  DOSSIER_ASSIGN_OR_RETURN(const Claims::Answer claimed, work_.claims.Take(name_, work_.run()));
  if (!claimed.claim) {
    result_.status = TaskStatus::kSkipped;
    result_.reason =
        fmt::format("claimed by run {}", claimed.holder.empty() ? "(another)" : claimed.holder);
    DOSSIER_RETURN_IF_ERROR(Finish());
    return std::move(result_);
  }
  const bool dry = work_.options.merging != RunOptions::Merging::kYes;
  DOSSIER_ASSIGN_OR_RETURN(const auto skipped, Skipped());
  if (skipped) {
    result_.status = TaskStatus::kSkipped;
    result_.reason = *skipped;
    if (!result_.commit.empty() && !dry) {
      DOSSIER_RETURN_IF_ERROR(MoveFile(Queue::kComplete));
    }
    DOSSIER_RETURN_IF_ERROR(Finish());
    return std::move(result_);
  }
  if (!dry && !start_.progress) {
    DOSSIER_ASSIGN_OR_RETURN(result_.reason, LocalChanges(work_, task_));
    if (!result_.reason.empty()) {
      result_.status = TaskStatus::kBlocked;
      DOSSIER_RETURN_IF_ERROR(Finish());
      return std::move(result_);
    }
  }
  DOSSIER_RETURN_IF_ERROR(work_.log.Add(
      "task.claimed", task_.id, {{"worker", start_.worker}, {"task-digest", result_.digest}}));
  TestFault("after-claim");
  if (!dry) DOSSIER_RETURN_IF_ERROR(MoveFile(Queue::kCurrent));
  DOSSIER_ASSIGN_OR_RETURN(const AttemptEnd end, Attempts());
  result_.status = end.status;
  result_.reason = end.reason;
  result_.attempts = attempt_;
  worktree_.reset();
  if (IsRefusal(end.status) && !dry) DOSSIER_RETURN_IF_ERROR(Refuse(end));
  if (!dry) {
    DOSSIER_RETURN_IF_ERROR(
        MoveFile(end.status == TaskStatus::kMerged ? Queue::kComplete : Queue::kPending));
  }
  DOSSIER_RETURN_IF_ERROR(Finish());
  return std::move(result_);
}

// Runs do not share tasks: what another run merged, or worked on meanwhile, is skipped, by a
// resumed run too. A resumed run's own merge is not a reason to skip: it continues from it.
Result<std::optional<std::string>> TaskWork::Skipped() {
  if (work_.options.ad_hoc) return std::nullopt;
  std::optional<RunRecords::Found> merged, since;
  {
    const std::lock_guard lock(work_.records_mutex);
    DOSSIER_RETURN_IF_ERROR(work_.records.Refresh());
    merged = work_.records.FindMerge(task_.id);
    since = work_.records.FindSince(task_.id, work_.run(), start_.run_started);
  }
  if (merged && merged->run == work_.run()) return std::nullopt;
  if (merged && !merged->record.commit.empty() && merged->record.digest == result_.digest) {
    DOSSIER_ASSIGN_OR_RETURN(
        const ProcessResult inside,
        work_.git.Run(work_.git.Objects(), {.arguments = {"merge-base", "--is-ancestor",
                                                          merged->record.commit, work_.ref}}));
    if (inside.exit_code == 0) {
      result_.commit = merged->record.commit;
      return fmt::format("merged by run {}", merged->run);
    }
  }
  if (!merged) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string commit, MergedByLedger());
    if (!commit.empty()) {
      result_.commit = commit;
      return fmt::format("merged as {}, says the ledger", commit.substr(0, 12));
    }
  }
  if (since) return fmt::format("run {} worked on it: {}", since->run, since->record.status);
  // In `agents merge` the branch is no reason to wait.
  if (work_.options.merge_checks != RunOptions::MergeChecks::kAsApproved) return std::nullopt;
  const bool makes_branch = work_.options.merging == RunOptions::Merging::kBranch;
  return WaitsOnBranch(work_.git, name_, makes_branch ? "" : work_.ref);
}

// Logs may be lost, but ledger and branch are not. Empty if they do not both show a merge.
Result<std::string> TaskWork::MergedByLedger() const {
  const auto patch = LedgerPatch(LedgerFile(work_.root, work_.state), task_.id);
  if (!patch) return std::string();
  return work_.git.AskLine(work_.git.Objects(),
                           {"log", "-1", "--format=%H", "--fixed-strings",
                            "--grep=Dossier-Patch-SHA256: " + *patch, work_.ref, "--"});
}

Result<std::string> TaskWork::Folder() const {
  return work_.state.Attempt(work_.run(), name_, static_cast<int>(attempt_));
}

AttemptPlace TaskWork::Place(const std::string& folder, const std::string& feedback) const {
  return {.task = &task_,
          .task_name = name_,
          .attempt = attempt_,
          .worker = start_.worker,
          .folder = folder,
          .feedback = feedback};
}

Result<AttemptEnd> TaskWork::Attempts() {
  std::string feedback;
  std::optional<AttemptEnd> end;
  if (start_.progress) {
    attempt_ = start_.progress->attempt;
    feedback = start_.progress->feedback;
    if (start_.progress->stage != TaskProgress::Stage::kAttempt) {
      DOSSIER_ASSIGN_OR_RETURN(end, GoOn(*start_.progress));
    }
  }
  while (true) {
    if (!end) {
      DOSSIER_ASSIGN_OR_RETURN(end, OneAttempt(feedback));
    }
    if (end->next == Next::kMerge) {
      DOSSIER_ASSIGN_OR_RETURN(end, Merged(std::move(*end)));
    }
    if (end->next != Next::kRetry || attempt_ >= work_.options.attempts) return std::move(*end);
    feedback = end->feedback.empty() ? end->reason : end->feedback;
    ++attempt_;
    end.reset();
  }
}

Result<AttemptEnd> TaskWork::OneAttempt(const std::string& feedback) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, Folder());
  const Status made = MakeWorktree();
  if (!made && made.error().code == ErrorCode::kCancelled) {
    return AttemptEnd{.status = TaskStatus::kInterrupted, .reason = made.error().message};
  }
  DOSSIER_RETURN_IF_ERROR(made);
  return Attempt(work_, Place(folder, feedback), &result_).Run(*worktree_);
}

// Reused by the attempts of a task, unless the branch has moved.
Status TaskWork::MakeWorktree() {
  DOSSIER_ASSIGN_OR_RETURN(const std::string tip, Tip());
  if (worktree_ && worktree_->commit() == tip) return {};
  worktree_.reset();
  DOSSIER_ASSIGN_OR_RETURN(const std::string path,
                           WorktreePath(work_.git, work_.run(), start_.worker, Role::kEngineer));
  DOSSIER_ASSIGN_OR_RETURN(
      Worktree made, Worktree::Make(work_.git, work_.state,
                                    {.path = path, .commit = tip, .run = work_.run()}, work_.stop));
  if (work_.options.worktrees == RunOptions::Worktrees::kKept) made.Keep();
  worktree_.emplace(std::move(made));
  return {};
}

Result<std::string> TaskWork::Tip() const {
  return work_.git.AskLine(work_.git.Objects(), {"rev-parse", work_.ref});
}

// Continues from the last durable event of an interrupted run.
Result<AttemptEnd> TaskWork::GoOn(const TaskProgress& progress) {
  using Stage = TaskProgress::Stage;
  if (progress.stage == Stage::kMerged || progress.stage == Stage::kIntent) {
    DOSSIER_ASSIGN_OR_RETURN(const bool merged, IsMerged(work_.git, work_.ref, progress.commit));
    if (merged) {
      // Recovery has written the ledger.
      result_.patch_sha256 = progress.patch_sha256;
      result_.commit = progress.commit;
      return AttemptEnd{.status = TaskStatus::kMerged,
                        .reason = fmt::format("merged into {}", work_.ref)};
    }
  }
  DOSSIER_ASSIGN_OR_RETURN(Patch patch, TakeUp(progress));
  if (progress.stage == Stage::kApproved || progress.stage == Stage::kIntent) {
    AttemptEnd approved{.next = Next::kMerge, .status = TaskStatus::kMerged};
    approved.patch = std::move(patch);
    approval_ = Approval::kRecorded;
    return approved;
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, Folder());
  return Attempt(work_, Place(folder, progress.feedback), &result_).Judge(std::move(patch));
}

// Reads the patch that was taken; its hash proves that it is unchanged.
Result<Patch> TaskWork::TakeUp(const TaskProgress& progress) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, Folder());
  DOSSIER_ASSIGN_OR_RETURN(Patch patch, DiffTrees(work_.git, progress.base, progress.candidate,
                                                  {.max_patch_bytes = work_.policy.max_patch_bytes,
                                                   .file = folder + "/patch.diff"}));
  if (patch.sha256 != progress.patch_sha256) {
    return MakeError(
        ErrorCode::kDamaged,
        "the patch of task {} is no longer the one that was taken (sha256 {}, was {}); "
        "`dossier agents resume {} --abandon` closes the run",
        task_.id, patch.sha256, progress.patch_sha256, work_.run());
  }
  patch.base = progress.base;
  patch.candidate = progress.candidate;
  result_.patch_sha256 = patch.sha256;
  result_.patch_file = patch.file;
  for (const PathChange& change : patch.changes) result_.files.push_back(change.path);
  return patch;
}

Result<AttemptEnd> TaskWork::Merged(AttemptEnd approved) {
  const Patch& patch = *approved.patch;
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, Folder());
  const AttemptPlace place = Place(folder, {});
  if (std::exchange(approval_, Approval::kNew) == Approval::kNew) {
    DOSSIER_RETURN_IF_ERROR(LogApproval(work_, place, patch));
  }
  TestFault("after-approval");
  if (work_.options.merging == RunOptions::Merging::kDryRun) {
    approved.next = Next::kEnd;
    approved.status = TaskStatus::kSkipped;
    approved.reason = fmt::format("dry run: approved, not merged; patch: {}", patch.file);
    return approved;
  }
  if (work_.options.merging == RunOptions::Merging::kBranch) {
    return OnBranch(std::move(approved), folder);
  }
  return MergeTask(work_, place, std::move(approved), &result_);
}

Result<AttemptEnd> TaskWork::OnBranch(AttemptEnd approved, const std::string& folder) {
  DOSSIER_ASSIGN_OR_RETURN(const TaskBranch made,
                           MakeTaskBranch(work_.git, {.run = work_.run(),
                                                      .task = &task_,
                                                      .task_name = name_,
                                                      .patch = &*approved.patch,
                                                      .checks = approved.checks,
                                                      .reviewer = work_.reviewer_name,
                                                      .folder = folder,
                                                      .guard = &work_.guard.guard()}));
  approved.next = Next::kEnd;
  approved.status = made.commit.empty() ? TaskStatus::kCommitFailed : TaskStatus::kSkipped;
  approved.reason = made.commit.empty()
                        ? made.complaint
                        : fmt::format("approved, on branch {}; text of a pull request: {}",
                                      made.branch, made.text_file);
  if (!made.commit.empty()) {
    DOSSIER_RETURN_IF_ERROR(work_.log.Add(
        "branch.made", task_.id,
        {{"branch", made.branch}, {"commit", made.commit}, {"text", made.text_file}}));
  }
  return approved;
}

Status TaskWork::Refuse(const AttemptEnd& end) {
  if (work_.options.notes == RunOptions::Notes::kNone || work_.root.empty()) return {};
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> notes,
                           WriteRefusal(work_.root, work_.agents.notes,
                                        {.task = &task_,
                                         .reviewer = work_.reviewer_name,
                                         .status = std::string(StatusName(end.status)),
                                         .reason = end.reason,
                                         .feedback = end.feedback,
                                         .run = work_.run()},
                                        work_.clock->WallNow()));
  for (const std::string& note : notes) {
    DOSSIER_RETURN_IF_ERROR(work_.log.Add("note.marked", task_.id, {{"note", note}}));
  }
  return {};
}

// A new file of the same name may appear while the task is worked on: only the claimed one moves.
Status TaskWork::MoveFile(Queue queue) {
  if (!task_.queued) return {};
  DOSSIER_ASSIGN_OR_RETURN(file_, MoveTask(work_.root, file_, queue));
  return {};
}

Status TaskWork::Finish() {
  result_.timestamp = work_.NowMillis();
  result_.seconds = std::chrono::duration<double>(work_.clock->Now() - begun_).count();
  return work_.log.Add("task.finished", task_.id, ResultToJson(result_));
}

}  // namespace dossier::agents
