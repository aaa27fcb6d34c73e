#include "agents/task/review.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <memory>

#include "agents/git/agent_file.h"
#include "agents/git/worktree.h"
#include "agents/task/task_result.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "base/text/utf8.h"

namespace dossier::agents {
namespace {

constexpr std::uint64_t kMaxReviewText = 1 << 20;  // bytes of .agent/review.txt
constexpr std::size_t kMaxAgentFiles = 10'000;     // maximum names read

// Returns the names of regular files in WORKTREE/.agent, if that is a real folder.
std::vector<std::string> AgentFiles(const std::string& worktree) {
  std::vector<std::string> names;
  UniqueFd folder(
      open((worktree + "/.agent").c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.valid()) return names;
  const int fd = folder.get();
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(folder.Release()), closedir);
  if (!listing) return names;
  while (const dirent* entry = readdir(listing.get())) {
    struct stat info{};
    if (fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(info.st_mode)) names.emplace_back(entry->d_name);
    if (names.size() == kMaxAgentFiles) break;
  }
  return names;
}

Result<ReviewEvidence> Collect(const std::string& worktree, const EngineJob& job,
                               const EngineOutcome& outcome, const std::string& token,
                               std::string prompt) {
  ReviewEvidence evidence{
      .token = token, .prompt = std::move(prompt), .out_dropped = outcome.out.dropped};
  if (outcome.end == ProcessOutcome::End::kExit) evidence.exit_code = outcome.exit_code;
  evidence.agent_files = AgentFiles(worktree);
  const auto review = ReadAgentFile(worktree, "review.txt", kMaxReviewText);
  if (review) {
    evidence.review_text = review->value_or("");
  } else if (review.error().code == ErrorCode::kTooLong) {
    evidence.review_text = "FIX: review.txt is too long to be read";
  } else {
    return tl::unexpected(review.error());
  }
  if (outcome.said) {
    evidence.out = *outcome.said;
    return evidence;
  }
  DOSSIER_ASSIGN_OR_RETURN(evidence.out, ReadFile(job.out_path, kMaxEngineOutput + kMaxReviewText));
  return evidence;
}

Status WriteAgentFiles(const Work& work, const ReviewRequest& request, const std::string& patch,
                       const Worktree& worktree) {
  DOSSIER_RETURN_IF_ERROR(worktree.ResetAgentFolder());
  const std::string folder = worktree.path() + "/.agent";
  const ReplaceOptions options{.durability = Durability::kSurvivesCrash};
  DOSSIER_RETURN_IF_ERROR(ReplaceFile(folder + "/patch.diff", {patch}, options));
  return ReplaceFile(folder + "/meta.json",
                     {MetaJson(work, *request.task, request.attempt, *request.patch)}, options);
}

EngineJob JobFor(const Work& work, const ReviewRequest& request, const Worktree& worktree,
                 const EnginePrompt& prompt) {
  const std::string path = fmt::format("{}/{}", request.folder, request.name);
  return {.role = Role::kReviewer,
          .task = request.task->id,
          .prompt = &prompt,
          .worktree = worktree.path(),
          .folder = worktree.path(),
          .prompt_path = path + ".prompt",
          .out_path = path + ".out",
          .err_path = path + ".err",
          .time_limit = work.policy.review_timeout,
          .places = PlacesBeside(work, worktree)};
}

}  // namespace

std::vector<sources::FileStat> FileStats(const Patch& patch) {
  std::vector<sources::FileStat> stats;
  for (const PathChange& change : patch.changes) {
    sources::FileStat stat{.path = change.path, .added = {}, .deleted = {}};
    if (!change.binary) {
      stat.added = change.added;
      stat.deleted = change.deleted;
    }
    stats.push_back(std::move(stat));
  }
  return stats;
}

std::string MetaJson(const Work& work, const sources::Task& task, std::int64_t attempt,
                     const Patch& patch) {
  JsonArray files;
  for (const PathChange& change : patch.changes) files.push_back(Json(utf8::Sanitize(change.path)));
  return ToPrettyJson(JsonObject{{"task_id", task.id},
                                 {"summary", task.summary},
                                 {"files", std::move(files)},
                                 {"generated_at", work.NowMillis()},
                                 {"run", work.run()},
                                 {"attempt", attempt},
                                 {"base", patch.base},
                                 {"patch_sha256", patch.sha256}}) +
         "\n";
}

Result<ReviewOutcome> Review(Work& work, const ReviewRequest& request, const CancelToken& cancel) {
  const Patch& patch = *request.patch;
  ReviewOutcome outcome;
  outcome.token = work.approvals.TokenFor({request.task->id, request.attempt, patch.sha256});
  DOSSIER_ASSIGN_OR_RETURN(const std::string text,
                           ReadFile(patch.file, work.policy.max_patch_bytes));
  DOSSIER_ASSIGN_OR_RETURN(const std::string path,
                           WorktreePath(work.git, work.run(), request.worker, Role::kReviewer));
  DOSSIER_ASSIGN_OR_RETURN(
      Worktree worktree,
      Worktree::Make(work.git, work.state,
                     {.path = path, .commit = request.commit, .run = work.run()}, cancel));
  if (work.options.worktrees == RunOptions::Worktrees::kKept) worktree.Keep();
  DOSSIER_RETURN_IF_ERROR(WriteAgentFiles(work, request, text, worktree));
  const WorkPrompt prompt(work.prompts, {.role = sources::AgentRole::kReviewer,
                                         .engine = work.reviewer.prompt_kind(),
                                         .task = request.task,
                                         .feedback = request.feedback,
                                         .checks = request.checks,
                                         .patch = text,
                                         .patch_stat = FileStats(patch),
                                         .token = outcome.token});
  DOSSIER_ASSIGN_OR_RETURN(std::string shown, prompt.Text());
  DOSSIER_RETURN_IF_ERROR(CheckTokenLines(shown, outcome.token));
  DOSSIER_RETURN_IF_ERROR(work.log.Add("review.started", request.task->id,
                                       {{"attempt", request.attempt},
                                        {"reviewer", work.reviewer_name},
                                        {"patch_sha256", patch.sha256}}));
  EngineJob job = JobFor(work, request, worktree, prompt);
  const std::uint64_t begin = work.guard.Begin();
  auto ran = work.reviewer.engine->Run(job, cancel);
  DOSSIER_ASSIGN_OR_RETURN(GuardWatch::Seen seen, work.guard.End(begin));
  DOSSIER_ASSIGN_OR_RETURN(outcome.engine, std::move(ran));
  DOSSIER_ASSIGN_OR_RETURN(
      const ReviewEvidence evidence,
      Collect(worktree.path(), job, outcome.engine, outcome.token, std::move(shown)));
  outcome.verdict = ReadVerdict(evidence);
  if (!seen.foreign.empty()) {
    outcome.verdict = {
        .kind = Verdict::Kind::kNone,
        .reason = "git-dir: " + seen.foreign.front().path + " was changed and put back",
        .feedback = {}};
    outcome.foreign = std::move(seen.foreign);
  }
  outcome.verdict.feedback = work.secrets.Hide(outcome.verdict.feedback);
  DOSSIER_RETURN_IF_ERROR(
      work.log.Add("review.finished", request.task->id,
                   {{"attempt", request.attempt},
                    {"exit", outcome.engine.ExitJson()},
                    {"verdict", VerdictName(outcome.verdict.kind)},
                    {"reason", outcome.verdict.reason},
                    {"seconds", static_cast<double>(outcome.engine.took.count()) / 1000.0},
                    {"out_dropped", outcome.engine.out.dropped},
                    {"usage", UsageToJson(outcome.engine.usage)}}));
  return outcome;
}

}  // namespace dossier::agents
