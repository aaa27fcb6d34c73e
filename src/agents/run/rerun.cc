// The part of run.h that continues the work of earlier runs: tasks not merged, and approved patches
// not merged yet.

#include <fmt/format.h>

#include <algorithm>

#include "agents/run/preflight.h"
#include "agents/run/progress.h"
#include "agents/run/run.h"
#include "agents/run/run_setup.h"
#include "agents/run/task_merge.h"
#include "agents/run/whole_run.h"
#include "agents/task/task_json.h"
#include "base/process/child.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

struct Earlier {
  std::string run;
  RunProgress progress;
};

// Visits finished runs of this repository, the newest first, until `take` accepts one.
Result<std::optional<Earlier>> FindEarlier(const RunPorts& ports, const std::string& repository,
                                           const std::function<bool(const Earlier&)>& take) {
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, store::Journal::Open(ports.journal_folder));
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> runs,
                           journal->RunsStartedWith({{"repository", repository}}));
  for (const std::string& run : runs) {
    const auto events = journal->Events(run);
    if (!events) continue;
    auto progress = ReadProgress(*events, *journal);
    if (!progress || !progress->finished) continue;
    Earlier earlier{run, std::move(*progress)};
    if (take(earlier)) return earlier;
  }
  return std::nullopt;
}

std::string StatusOf(const TaskProgress& task) { return TextAt(Json(task.result), "status"); }

// True if the task ended, but not as intended.
bool IsOpen(const TaskProgress& task) {
  const std::string status = StatusOf(task);
  return task.stage != TaskProgress::Stage::kMerged && status != "merged" && status != "skipped";
}

std::vector<std::string> OpenTasks(const RunProgress& run) {
  std::vector<std::string> ids;
  for (const sources::Task& task : run.tasks) {
    const bool wanted = run.options.only.empty() ||
                        std::find(run.options.only.begin(), run.options.only.end(), task.id) !=
                            run.options.only.end();
    if (wanted && IsOpen(run.progress.at(task.id))) ids.push_back(task.id);
  }
  return ids;
}

std::string BranchOf(const RunProgress& run) {
  constexpr std::string_view kHeads = "refs/heads/";
  return run.ref.starts_with(kHeads) ? run.ref.substr(kHeads.size()) : run.ref;
}

// Returns a new run's progress in which only `task` exists, as it was approved.
RunProgress ApprovedAlone(const Earlier& earlier, const sources::Task& task) {
  RunProgress progress;
  progress.repository = earlier.progress.repository;
  progress.ref = earlier.progress.ref;
  progress.tasks = {task};
  TaskProgress state = earlier.progress.progress.at(task.id);
  state.stage = TaskProgress::Stage::kApproved;
  state.result.clear();
  progress.progress.emplace(task.id, std::move(state));
  return progress;
}

const sources::Task& TaskOf(const RunProgress& run, std::string_view id) {
  return *std::find_if(run.tasks.begin(), run.tasks.end(),
                       [&](const sources::Task& task) { return task.id == id; });
}

Status CheckSameTask(const RunSetup& setup, const sources::Task& approved) {
  for (const sources::Task& task : setup.tasks()) {
    if (task.id != approved.id) continue;
    if (TaskDigest(task) == TaskDigest(approved)) return {};
    return MakeError(ErrorCode::kConfig,
                     "task {} has changed since its patch was approved; `dossier agents run --only "
                     "{}` works on it anew",
                     approved.id, approved.id);
  }
  return {};
}

}  // namespace

Result<AgentRunResult> RetryRun(std::string_view run, const RunPorts& ports) {
  DOSSIER_ASSIGN_OR_RETURN(const RunGround ground, RunGround::Find(ports));
  DOSSIER_ASSIGN_OR_RETURN(const auto found, FindEarlier(ports, ground.git.folders().common,
                                                         [&](const Earlier& earlier) {
                                                           return earlier.run.starts_with(run);
                                                         }));
  if (!found) {
    return MakeError(ErrorCode::kNotFound, "no finished run of this repository{}",
                     run.empty() ? "" : fmt::format(" begins with {}", run));
  }
  RunOptions options = found->progress.options;
  options.merge_checks = RunOptions::MergeChecks::kAsApproved;
  if (options.ad_hoc) {
    const bool open = IsOpen(found->progress.progress.at(options.ad_hoc->id));
    if (!open) options.ad_hoc.reset();
  }
  options.only = options.ad_hoc ? std::vector<std::string>() : OpenTasks(found->progress);
  options.target = BranchOf(found->progress);
  if (options.only.empty() && !options.ad_hoc) {
    return MakeError(ErrorCode::kNotFound, "run {} left no task to try again", found->run);
  }
  return RunTasks(options, ports);
}

Result<AgentRunResult> MergeApproved(std::string_view id, RunOptions::MergeChecks checks,
                                     const RunPorts& ports) {
  HideMemory();  // hides the approval key
  DOSSIER_ASSIGN_OR_RETURN(RunGround ground, RunGround::Find(ports));
  DOSSIER_RETURN_IF_ERROR(RecoverFirst(ground, ports));
  DOSSIER_ASSIGN_OR_RETURN(
      const auto found,
      FindEarlier(ports, ground.git.folders().common, [&](const Earlier& earlier) {
        const auto task = earlier.progress.progress.find(id);
        if (task == earlier.progress.progress.end()) return false;
        // A run that skipped the task says nothing about its patch.
        const std::string status = StatusOf(task->second);
        const bool left_alone =
            (status == "skipped" || status == "blocked") && !task->second.approved;
        return task->second.stage != TaskProgress::Stage::kNotStarted && !left_alone;
      }));
  if (!found) return MakeError(ErrorCode::kNotFound, "no run has worked on a task {}", id);
  const TaskProgress& state = found->progress.progress.find(id)->second;
  if (!state.approved || StatusOf(state) == "merged") {
    return MakeError(ErrorCode::kNotFound, "run {} left no approved patch of {} to merge: {}",
                     found->run, id, StatusOf(state));
  }
  const sources::Task& task = TaskOf(found->progress, id);
  RunOptions options = found->progress.options;
  options.merging = RunOptions::Merging::kYes;
  options.merge_checks = checks;
  options.attempts =
      static_cast<decltype(options.attempts)>(state.attempt);  // no engine works again
  options.target = BranchOf(found->progress);
  if (!options.ad_hoc) options.only = {task.id};
  DOSSIER_ASSIGN_OR_RETURN(auto setup, RunSetup::Make(options, ports, std::move(ground)));
  DOSSIER_RETURN_IF_ERROR(CheckSameTask(*setup, task));
  DOSSIER_ASSIGN_OR_RETURN(const Preflight ahead, LookAhead(*setup, options, ports));
  DOSSIER_RETURN_IF_ERROR(RefuseProblems(*setup, ahead));
  RunBudget budget(options, ports.cancel, ports.clock);
  DOSSIER_RETURN_IF_ERROR(setup->MakeEngines(budget));
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, RunLogFolder(ports));
  JsonObject started = StartedEvent(*setup, options);
  started["approved_by_run"] = found->run;
  DOSSIER_ASSIGN_OR_RETURN(
      auto log, AgentLog::Start(PlacesOf(ports, folder, setup->secrets()), std::move(started)));
  DOSSIER_RETURN_IF_ERROR(LogWarnings(ahead, log.get()));
  if (checks == RunOptions::MergeChecks::kNone && !ports.agents.checks.empty()) {
    DOSSIER_RETURN_IF_ERROR(log->Add(
        "warning", task.id,
        {{"text", fmt::format("--no-checks: no check runs over what {} gets", setup->ref())}}));
  }
  DOSSIER_RETURN_IF_ERROR(log->Add("approval.accepted", task.id,
                                   {{"attempt", state.attempt},
                                    {"base", state.base},
                                    {"candidate", state.candidate},
                                    {"patch_sha256", state.patch_sha256},
                                    {"run", found->run}}));
  const RunProgress progress = ApprovedAlone(*found, task);
  return WorkAll({options, ports, *setup, budget}, std::move(log), &progress);
}

}  // namespace dossier::agents
