#include "agents/task/attempt.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "agents/git/worktree.h"
#include "agents/merge/test_fault.h"
#include "agents/policy/policy_check.h"
#include "agents/task/work.h"
#include "base/cancel.h"
#include "base/files/file.h"
#include "base/result.h"
#include "base/text/utf8.h"

namespace dossier::agents {
namespace {

// Runs the checks of a repository on one candidate. A check runs what an engineer wrote, so it sees
// only the candidate and what its configuration names, in its own worktree: what one check does to
// the files reaches neither the next one nor the reviewer.
//
//   DOSSIER_ASSIGN_OR_RETURN(const CheckReport report, RunChecks(work, place, cancel));
//   if (report.failed) Feed(report.feedback);

inline constexpr std::size_t kCheckFeedback = 4000;  // characters, for a failing check

struct CheckPlace {
  std::string task;      // id, for the log
  std::string commit;    // the candidate
  std::string worktree;  // path of each check's worktree, made anew
  std::string folder;    // for the output
};

struct CheckReport {
  std::string failed;    // name of the first that failed; empty: none
  std::string reason;    // how that one ended
  std::string text;      // output of all, for the reviewer
  std::string feedback;  // from the one that failed
  bool stopped = false;  // cancelled, not failed
};

// Returns the last `count` code points of valid UTF-8.
std::string_view LastCodePoints(std::string_view text, std::size_t count) {
  std::size_t at = text.size();
  for (std::size_t seen = 0; at > 0 && seen < count; ++seen) {
    do {
      --at;
    } while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  }
  return text.substr(at);
}

std::string OutputOf(const ConfinedProcess& process) {
  std::string text = ReadFile(process.out_path, kMaxEngineOutput).value_or("") +
                     ReadFile(process.err_path, kMaxEngineOutput).value_or("");
  return std::string(LastCodePoints(utf8::Sanitize(text), kCheckFeedback));
}

std::string HowItEnded(const ProcessOutcome& outcome, const sources::AgentCheck& check) {
  switch (outcome.end) {
    case ProcessOutcome::End::kTimeout:
      return fmt::format("ran out of its {} s", check.timeout.count() / 1000);
    case ProcessOutcome::End::kSignal:
      return outcome.limit.empty() ? fmt::format("was ended by signal {}", outcome.signal)
                                   : fmt::format("was ended by the limit of {}", outcome.limit);
    case ProcessOutcome::End::kCancelled:
      return "was stopped";
    case ProcessOutcome::End::kExit:
      break;
  }
  return fmt::format("ended with exit code {}", outcome.exit_code);
}

ProcessPlaces PlacesOf(const Work& work, const Worktree& worktree,
                       const sources::AgentCheck& check) {
  ProcessPlaces places = PlacesBeside(work, worktree);
  // With git a check may read, but change nothing.
  places.readable.insert(places.readable.end(), places.own.begin(), places.own.end());
  places.own = {worktree.path()};
  for (const std::string& path : check.writable) places.writable.push_back(work.Whole(path));
  for (const std::string& path : check.readable) places.readable.push_back(work.Whole(path));
  return places;
}

// Appended to a failed check's output: it may have failed because of the jail.
std::string AboutWalls(const Work& work, const sources::AgentCheck& check) {
  if (work.options.walls.confinement == Confinement::kNone) return "";
  return fmt::format("\n(It ran with an empty home, {}, and without other files of the user.)\n",
                     check.network ? "with network" : "without network");
}

// Errors: kUnavailable (no confinement), kIo, those of git. A check that cannot start counts as
// failed.
Result<CheckReport> RunChecks(Work& work, const CheckPlace& place, const CancelToken& cancel) {
  CheckReport report;
  for (std::size_t i = 0; i < work.agents.checks.size(); ++i) {
    const sources::AgentCheck& check = work.agents.checks[i];
    DOSSIER_ASSIGN_OR_RETURN(
        const Worktree worktree,
        Worktree::Make(work.git, work.state,
                       {.path = place.worktree, .commit = place.commit, .run = work.run()}));
    const ConfinedProcess process{
        .argv = check.argv,
        .folder = worktree.path(),
        .environment = EngineEnvironment(work.environment, {}),
        .input = {},
        .places = PlacesOf(work, worktree, check),
        .network = check.network ? ConfinedProcess::Network::kAny : ConfinedProcess::Network::kNone,
        .walls = work.options.walls,
        .time_limit = check.timeout,
        .grace = work.options.grace,
        .out_path = fmt::format("{}/check-{}.out", place.folder, i + 1),
        .err_path = fmt::format("{}/check-{}.err", place.folder, i + 1),
        .secrets = &work.secrets};
    const auto outcome = RunConfined(process, cancel);
    if (!outcome && outcome.error().code != ErrorCode::kNotFound &&
        outcome.error().code != ErrorCode::kPermission &&
        outcome.error().code != ErrorCode::kDied) {
      return tl::unexpected(outcome.error());
    }
    const std::string ended = outcome ? HowItEnded(*outcome, check) : outcome.error().message;
    const bool good =
        outcome && outcome->end == ProcessOutcome::End::kExit && outcome->exit_code == 0;
    report.stopped = outcome && outcome->end == ProcessOutcome::End::kCancelled;
    DOSSIER_RETURN_IF_ERROR(work.log.Add(
        "check.finished", place.task,
        {{"check", check.name}, {"result", good ? "passed" : "failed"}, {"reason", ended}}));
    report.text += fmt::format("{}: {}\n", check.name, good ? "passed" : ended);
    if (report.stopped) return report;
    if (good) continue;
    report.failed = check.name;
    report.reason = ended;
    report.feedback = fmt::format("The check {} {}. The end of its output:\n{}{}", check.name,
                                  ended, OutputOf(process), AboutWalls(work, check));
    return report;
  }
  return report;
}

using Next = AttemptEnd::Next;

AttemptEnd EndWith(TaskStatus status, std::string reason) {
  return {.status = status, .reason = std::move(reason), .feedback = {}, .patch = {}, .checks = {}};
}

Json FilesOf(const Patch& patch) {
  JsonArray files;
  for (const PathChange& change : patch.changes) files.push_back(Json(change.path));
  return files;
}

// Returns the `cwd` of a task, if it is a folder inside the worktree.
std::string FolderFor(const std::string& worktree, const std::string& cwd) {
  std::error_code error;
  const auto root = std::filesystem::canonical(worktree, error);
  const auto folder = std::filesystem::canonical(root / cwd, error);
  if (error || !std::filesystem::is_directory(folder, error)) return worktree;
  const auto below = folder.lexically_relative(root).string();
  const bool inside = !below.empty() && below != "." && !below.starts_with("..");
  // Uses the jail's path: the worktree's own path may contain links.
  return inside ? fmt::format("{}/{}", worktree, below) : worktree;
}

// Returns what an engine or a check changed in the git folder, as violations.
std::vector<Violation> GitDirViolations(const std::vector<ForeignChange>& foreign) {
  std::vector<Violation> violations;
  for (const ForeignChange& change : foreign) {
    const std::string kept =
        change.kept.empty() ? "" : fmt::format("; what was there is kept as {}", change.kept);
    violations.push_back({.rule = "git-dir",
                          .path = change.path,
                          .value = "changed, and put back" + kept,
                          .limit = "engines leave the git folder alone"});
  }
  return violations;
}

// Returns the end of an attempt that follows from a review's verdict.
AttemptEnd EndOfReview(const ReviewOutcome& review, AttemptEnd so_far) {
  so_far.reason = review.verdict.reason;
  so_far.feedback = review.verdict.feedback;
  if (review.engine.end == ProcessOutcome::End::kTimeout) {
    so_far.next = Next::kEnd;
    so_far.status = TaskStatus::kTimedOut;
    so_far.reason = review.engine.reason;
    return so_far;
  }
  switch (review.verdict.kind) {
    case Verdict::Kind::kApproved:
      so_far.next = Next::kMerge;
      so_far.status = TaskStatus::kMerged;
      break;
    case Verdict::Kind::kNeedsChanges:
      so_far.next = Next::kRetry;
      so_far.status = TaskStatus::kNeedsFix;
      break;
    case Verdict::Kind::kRejected:
      so_far.next = Next::kEnd;
      so_far.status = TaskStatus::kNeedsFix;
      break;
    default:
      so_far.next = Next::kEnd;
      so_far.status = TaskStatus::kReviewFailed;
      if (!review.engine.good() && !review.engine.reason.empty()) {
        so_far.reason = review.engine.reason;
      }
  }
  return so_far;
}

// Returns the end of an attempt if an engine could not run; other errors stay errors.
Result<AttemptEnd> EndOfEngineError(const Error& error, TaskStatus failed) {
  switch (error.code) {
    case ErrorCode::kLimit:
      return EndWith(TaskStatus::kBudget, error.message);
    case ErrorCode::kTooLong:
    case ErrorCode::kNotFound:
    case ErrorCode::kPermission:
    case ErrorCode::kTimeout:
    case ErrorCode::kDied:  // the engine's supervisor was killed
      return EndWith(failed, error.message);
    case ErrorCode::kCancelled:
      return EndWith(TaskStatus::kInterrupted, error.message);
    default:
      return tl::unexpected(error);
  }
}

}  // namespace

Result<AttemptEnd> Attempt::Run(const Worktree& worktree) {
  auto outcome = Engineer(worktree);
  if (!outcome) return EndOfEngineError(outcome.error(), TaskStatus::kEngineFailed);
  TestFault("after-engine");
  return AfterEngineer(*outcome, worktree);
}

Result<EngineOutcome> Attempt::Engineer(const Worktree& worktree) {
  const sources::Task& task = *place_.task;
  const WorkPrompt prompt(work_.prompts, {.role = sources::AgentRole::kEngineer,
                                          .engine = work_.engineer.prompt_kind(),
                                          .task = &task,
                                          .feedback = place_.feedback});
  EngineJob job{.role = Role::kEngineer,
                .task = task.id,
                .prompt = &prompt,
                .worktree = worktree.path(),
                .folder = FolderFor(worktree.path(), task.cwd),
                .prompt_path = place_.folder + "/engineer.prompt",
                .out_path = place_.folder + "/engineer.out",
                .err_path = place_.folder + "/engineer.err",
                .time_limit = work_.policy.propose_timeout,
                .places = PlacesBeside(work_, worktree)};
  job.refuse_write = [this, &task](std::string_view path) -> std::optional<std::string> {
    const PolicyReport report = CheckNewFile(work_.policy, task.targets, path, work_.control);
    if (report.ok()) return std::nullopt;
    return fmt::format("rule {}", report.violations.front().rule);
  };
  DOSSIER_RETURN_IF_ERROR(worktree.ResetAgentFolder());
  DOSSIER_RETURN_IF_ERROR(work_.log.Add("engine.started", task.id,
                                        {{"role", "engineer"},
                                         {"engine", work_.engineer_name},
                                         {"attempt", place_.attempt},
                                         {"base", worktree.commit()},
                                         {"feedback", place_.feedback}}));
  const std::uint64_t begin = work_.guard.Begin();
  auto ran = work_.engineer.engine->Run(job, work_.budget.token());
  // First of all, changes to the git folder are undone, however the engine ended.
  DOSSIER_ASSIGN_OR_RETURN(GuardWatch::Seen seen, work_.guard.End(begin));
  foreign_ = std::move(seen.foreign);
  result_.moved_branches.insert(result_.moved_branches.end(), seen.moved_branches.begin(),
                                seen.moved_branches.end());
  DOSSIER_ASSIGN_OR_RETURN(const bool own_git_file, worktree.HadOwnGitFile());
  if (!own_git_file) foreign_.push_back({.path = ".git of the worktree", .kept = {}});
  DOSSIER_ASSIGN_OR_RETURN(EngineOutcome outcome, std::move(ran));
  Count(outcome);
  result_.propose_exit = outcome.ExitJson();
  DOSSIER_RETURN_IF_ERROR(
      work_.log.Add("engine.finished", task.id,
                    {{"role", "engineer"},
                     {"attempt", place_.attempt},
                     {"exit", outcome.ExitJson()},
                     {"reason", outcome.reason},
                     {"seconds", static_cast<double>(outcome.took.count()) / 1000.0},
                     {"out_bytes", outcome.out.bytes},
                     {"out_dropped", outcome.out.dropped},
                     {"err_bytes", outcome.err.bytes},
                     {"err_dropped", outcome.err.dropped},
                     {"usage", UsageToJson(outcome.usage)}}));
  for (const std::string& warning : outcome.warnings) {
    DOSSIER_RETURN_IF_ERROR(work_.log.Add("warning", task.id, {{"text", warning}}));
  }
  return outcome;
}

// A sum is known only if each part is known.
void Attempt::Count(const EngineOutcome& outcome) {
  const bool first = result_.propose_exit.is_null() && result_.review_exit.is_null();
  if (first) {
    result_.usage = outcome.usage;
  } else if (result_.usage && outcome.usage) {
    result_.usage->Add(*outcome.usage);
  } else {
    result_.usage.reset();
  }
}

std::optional<AttemptEnd> Attempt::Stopped() const {
  if (work_.stop.cancelled()) return EndWith(TaskStatus::kInterrupted, work_.stop.reason());
  if (const auto what = work_.budget.used_up()) return EndWith(TaskStatus::kBudget, *what);
  return std::nullopt;
}

Result<AttemptEnd> Attempt::AfterEngineer(const EngineOutcome& outcome, const Worktree& worktree) {
  if (outcome.end == ProcessOutcome::End::kCancelled) {
    if (auto stopped = Stopped()) return std::move(*stopped);
  }
  auto taken = Take(worktree);
  if (!taken && taken.error().code == ErrorCode::kCancelled) {
    if (auto stopped = Stopped()) return std::move(*stopped);
  }
  DOSSIER_ASSIGN_OR_RETURN(Patch patch, std::move(taken));
  if (!outcome.good()) {
    AttemptEnd end =
        EndWith(outcome.end == ProcessOutcome::End::kTimeout ? TaskStatus::kTimedOut
                                                             : TaskStatus::kEngineFailed,
                outcome.reason);
    end.patch = std::move(patch);
    return end;
  }
  if (!patch.apply_problem.empty() && patch.changes.empty()) {
    return EndWith(TaskStatus::kApplyFailed, patch.apply_problem);
  }
  if (patch.changes.empty() && patch.violations.empty()) {
    return EndWith(TaskStatus::kMissingPatch, "the engineer changed nothing");
  }
  TestFault("after-patch");
  return Judge(std::move(patch));
}

Result<Patch> Attempt::Take(const Worktree& worktree) {
  const PatchOptions options{
      .run = work_.run(),
      .task = place_.task_name,
      .attempt = static_cast<int>(place_.attempt),
      .folder = place_.folder,
      .max_patch_bytes = work_.policy.max_patch_bytes,
      .output = work_.engineer.config->output == sources::AgentEngine::Output::kPatchFile
                    ? EngineOutput::kPatchFile
                    : EngineOutput::kWorktree,
      .guard = &work_.guard.guard(),
      .secrets = &work_.secrets};
  DOSSIER_ASSIGN_OR_RETURN(Patch patch,
                           TakePatch(worktree, work_.git, options, work_.budget.token()));
  for (Violation& one : GitDirViolations(foreign_)) patch.violations.push_back(std::move(one));
  result_.patch_sha256 = patch.changes.empty() ? std::string() : patch.sha256;
  result_.patch_file = patch.file;
  result_.files.clear();
  for (const PathChange& change : patch.changes) result_.files.push_back(change.path);
  if (!patch.changes.empty()) {
    DOSSIER_RETURN_IF_ERROR(WriteStateFile(place_.folder + "/meta.json",
                                           MetaJson(work_, *place_.task, place_.attempt, patch),
                                           Durability::kSurvivesCrash));
  }
  DOSSIER_RETURN_IF_ERROR(work_.log.Add("patch.taken", place_.task->id,
                                        {{"attempt", place_.attempt},
                                         {"base", patch.base},
                                         {"candidate", patch.candidate},
                                         {"patch_sha256", patch.sha256},
                                         {"bytes", patch.bytes},
                                         {"files", FilesOf(patch)},
                                         {"added", patch.stat.added},
                                         {"deleted", patch.stat.deleted},
                                         {"violations", patch.violations.size()},
                                         {"ignored_files", patch.ignored_files}}));
  for (const std::string& warning : patch.warnings) {
    DOSSIER_RETURN_IF_ERROR(work_.log.Add("warning", place_.task->id, {{"text", warning}}));
  }
  return patch;
}

Result<AttemptEnd> Attempt::Judge(Patch patch) {
  const std::vector<Violation> violations = JudgePatch(work_, *place_.task, patch);
  result_.violations.clear();  // from the previous attempt
  const JsonObject report = PolicyToJson(violations);
  DOSSIER_RETURN_IF_ERROR(WriteStateFile(place_.folder + "/policy.json",
                                         ToPrettyJson(report) + "\n", Durability::kSurvivesCrash));
  JsonObject event = report;
  event["attempt"] = place_.attempt;
  event["policy_sha256"] = work_.policy.sha256;
  DOSSIER_RETURN_IF_ERROR(work_.log.Add("policy.checked", place_.task->id, std::move(event)));
  if (!violations.empty()) return Refused(violations, std::move(patch));
  DOSSIER_ASSIGN_OR_RETURN(AttemptEnd checked, Checked(std::move(patch)));
  if (checked.next != Next::kMerge) return checked;
  return Reviewed("reviewer", std::move(checked));
}

AttemptEnd Attempt::Refused(const std::vector<Violation>& violations, Patch patch) {
  result_.violations = violations;
  const Violation& first = violations.front();
  AttemptEnd end = EndWith(
      TaskStatus::kPolicyViolation,
      fmt::format("rule {}{}{}", first.rule, first.path.empty() ? "" : ": ", first.path));
  if (first.rule == "secret") end.reason += ", " + first.value;  // its line, never the secret
  if (violations.size() > 1) end.reason += fmt::format(", and {} more", violations.size() - 1);
  end.next = Next::kRetry;
  end.feedback = ViolationsText(violations);
  end.patch = std::move(patch);
  return end;
}

Result<AttemptEnd> Attempt::Checked(Patch patch) {
  AttemptEnd so_far{.next = Next::kMerge};
  so_far.patch = std::move(patch);
  if (work_.agents.checks.empty()) return so_far;
  DOSSIER_ASSIGN_OR_RETURN(const std::string path,
                           WorktreePath(work_.git, work_.run(), place_.worker, Role::kReviewer));
  const std::uint64_t begin = work_.guard.Begin();
  DOSSIER_ASSIGN_OR_RETURN(const CheckReport report, RunChecks(work_,
                                                               {.task = place_.task->id,
                                                                .commit = so_far.patch->candidate,
                                                                .worktree = path,
                                                                .folder = place_.folder},
                                                               work_.budget.token()));
  DOSSIER_ASSIGN_OR_RETURN(const GuardWatch::Seen seen, work_.guard.End(begin));
  if (!seen.foreign.empty()) {
    return Refused(GitDirViolations(seen.foreign), std::move(*so_far.patch));
  }
  if (report.stopped) {
    if (auto stopped = Stopped()) return std::move(*stopped);
  }
  so_far.checks = report.text;
  if (report.failed.empty()) return so_far;
  so_far.next = Next::kRetry;
  so_far.status = TaskStatus::kNeedsFix;
  so_far.reason = fmt::format("the check {} failed: {}", report.failed, report.reason);
  so_far.feedback = work_.secrets.Hide(report.feedback);
  return so_far;
}

// A reviewer without a readable verdict is asked once more: the patch exists, and the engineer is
// not at fault.
Result<ReviewOutcome> Attempt::AskReviewer(const std::string& name, const AttemptEnd& so_far) {
  ReviewRequest request{.task = place_.task,
                        .task_name = place_.task_name,
                        .attempt = place_.attempt,
                        .worker = place_.worker,
                        .patch = &*so_far.patch,
                        .commit = so_far.patch->candidate,
                        .folder = place_.folder,
                        .name = name,
                        .checks = so_far.checks,
                        .feedback = place_.feedback};
  auto review = Review(work_, request, work_.budget.token());
  const bool silent = review && review->verdict.kind == Verdict::Kind::kNone &&
                      review->engine.good() && review->foreign.empty();
  if (!silent || Stopped()) return review;
  Count(review->engine);
  request.name = name + "-again";
  request.feedback =
      "The last review of this patch ended without a verdict that could be read. End with one, on "
      "a "
      "line of its own.";
  return Review(work_, request, work_.budget.token());
}

Result<AttemptEnd> Attempt::Reviewed(const std::string& name, AttemptEnd so_far) {
  const auto review = AskReviewer(name, so_far);
  if (!review && review.error().code == ErrorCode::kCancelled) {
    if (auto stopped = Stopped()) {
      stopped->patch = std::move(so_far.patch);
      return std::move(*stopped);
    }
  }
  if (!review) {
    DOSSIER_ASSIGN_OR_RETURN(AttemptEnd end,
                             EndOfEngineError(review.error(), TaskStatus::kReviewFailed));
    end.patch = std::move(so_far.patch);
    return end;
  }
  Count(review->engine);
  result_.review_exit = review->engine.ExitJson();
  if (review->engine.end == ProcessOutcome::End::kCancelled) {
    if (auto stopped = Stopped()) {
      stopped->patch = std::move(so_far.patch);
      return std::move(*stopped);
    }
  }
  if (!review->foreign.empty()) {
    return Refused(GitDirViolations(review->foreign), std::move(*so_far.patch));
  }
  return EndOfReview(*review, std::move(so_far));
}

std::vector<Violation> JudgePatch(const Work& work, const sources::Task& task, const Patch& patch) {
  return CheckPolicy(work.policy, task.targets, patch, work.control).violations;
}

}  // namespace dossier::agents
