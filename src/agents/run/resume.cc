// The part of run.h that continues or closes an interrupted run.

#include <fmt/format.h>

#include <algorithm>

#include "agents/run/preflight.h"
#include "agents/run/progress.h"
#include "agents/run/run.h"
#include "agents/run/run_setup.h"
#include "agents/run/task_merge.h"
#include "agents/run/task_queue.h"
#include "agents/run/whole_run.h"
#include "agents/task/task_json.h"
#include "base/process/child.h"

namespace dossier::agents {
namespace {

constexpr std::size_t kMaxListed = 10'000;  // maximum runs read from the journal

// Returns the run that a person named. Errors: kNotFound.
Result<std::string> FindRun(store::Journal& journal, std::string_view run,
                            const std::string& repository) {
  if (!run.empty()) return journal.Resolve(run);
  DOSSIER_ASSIGN_OR_RETURN(const auto list, journal.List("interrupted", kMaxListed));
  for (const store::RunSummary& one : list) {
    if (!one.run.starts_with("run-")) continue;
    const auto events = journal.Events(one.run);
    if (!events || events->front().type != "run.started") continue;
    const Json started(events->front().data);
    if (FindString(started, "repository").value_or("") == repository) return one.run;
  }
  return MakeError(ErrorCode::kNotFound, "no run of this repository was interrupted");
}

struct Interrupted {
  std::string run;
  RunProgress progress;
};

Result<Interrupted> ReadInterrupted(std::string_view wanted, const RunPorts& ports,
                                    const RunGround& ground) {
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, store::Journal::Open(ports.journal_folder));
  Interrupted found;
  DOSSIER_ASSIGN_OR_RETURN(found.run, FindRun(*journal, wanted, ground.git.folders().common));
  DOSSIER_ASSIGN_OR_RETURN(const std::string status, journal->StatusOf(found.run));
  if (status == "running") {
    return MakeError(ErrorCode::kLocked, "a process is still at work on run {}", found.run);
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto events, journal->Events(found.run));
  DOSSIER_ASSIGN_OR_RETURN(found.progress, ReadProgress(events, *journal));
  if (found.progress.repository != ground.git.folders().common) {
    return MakeError(ErrorCode::kNotFound, "run {} belongs to {}", found.run,
                     found.progress.repository);
  }
  if (found.progress.finished) {
    return MakeError(ErrorCode::kNotFound, "run {} is finished; there is nothing to go on with",
                     found.run);
  }
  return found;
}

// Moves claimed tasks back to where a run looks for them.
Status ReturnTasks(const RunGround& ground, const RunProgress& progress) {
  for (const sources::Task& task : progress.tasks) {
    const TaskProgress& state = progress.progress.at(task.id);
    const bool open = state.stage != TaskProgress::Stage::kFinished &&
                      state.stage != TaskProgress::Stage::kNotStarted &&
                      state.stage != TaskProgress::Stage::kMerged;
    if (!open || !task.queued) continue;
    const std::string claimed = PathInQueue(task.file, Queue::kCurrent).value_or(task.file);
    DOSSIER_RETURN_IF_ERROR(MoveTask(ground.root, claimed, Queue::kPending));
  }
  return {};
}

Status CheckUnchanged(const Interrupted& run, const RunSetup& setup) {
  const auto changed = [&](const std::string& what) {
    return MakeError(ErrorCode::kConfig,
                     "{} since run {} was interrupted; `dossier agents resume {} --abandon` "
                     "closes it",
                     what, run.run, run.run);
  };
  if (setup.policy().sha256 != run.progress.policy_sha256) return changed("the policy has changed");
  for (const sources::Task& task : run.progress.tasks) {
    const TaskProgress& state = run.progress.progress.at(task.id);
    if (state.stage == TaskProgress::Stage::kFinished ||
        state.stage == TaskProgress::Stage::kMerged) {
      continue;
    }
    const auto now = std::find_if(setup.tasks().begin(), setup.tasks().end(),
                                  [&](const sources::Task& one) { return one.id == task.id; });
    if (now == setup.tasks().end()) return changed(fmt::format("task {} has gone", task.id));
    if (TaskDigest(*now) != TaskDigest(task)) {
      return changed(fmt::format("task {} has changed", task.id));
    }
  }
  return {};
}

}  // namespace

Result<AgentRunResult> ResumeRun(std::string_view run, const RunPorts& ports) {
  HideMemory();  // hides the approval key
  DOSSIER_ASSIGN_OR_RETURN(RunGround ground, RunGround::Find(ports));
  DOSSIER_RETURN_IF_ERROR(RecoverFirst(ground, ports));
  DOSSIER_ASSIGN_OR_RETURN(const Interrupted found, ReadInterrupted(run, ports, ground));
  DOSSIER_RETURN_IF_ERROR(RemoveRecordedWorktrees(ground.state, found.run));
  DOSSIER_RETURN_IF_ERROR(ReturnTasks(ground, found.progress));
  RunOptions options = found.progress.options;
  options.target = found.progress.ref.substr(std::string_view("refs/heads/").size());
  DOSSIER_ASSIGN_OR_RETURN(auto setup, RunSetup::Make(options, ports, std::move(ground)));
  DOSSIER_RETURN_IF_ERROR(CheckUnchanged(found, *setup));
  DOSSIER_ASSIGN_OR_RETURN(const Preflight ahead, LookAhead(*setup, options, ports));
  DOSSIER_RETURN_IF_ERROR(RefuseProblems(*setup, ahead));
  RunBudget budget(options, ports.cancel, ports.clock, found.progress.spent);
  DOSSIER_RETURN_IF_ERROR(setup->MakeEngines(budget));
  setup->AddFinished(found.progress);
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, RunLogFolder(ports));
  std::vector<store::Event> events;
  DOSSIER_ASSIGN_OR_RETURN(
      auto log, AgentLog::Reopen(PlacesOf(ports, folder, setup->secrets()), found.run, &events));
  DOSSIER_RETURN_IF_ERROR(log->Add("run.resumed", "", {}));
  DOSSIER_RETURN_IF_ERROR(LogWarnings(ahead, log.get()));
  return WorkAll({options, ports, *setup, budget}, std::move(log), &found.progress);
}

Result<std::string> AbandonRun(std::string_view run, const RunPorts& ports) {
  DOSSIER_ASSIGN_OR_RETURN(const RunGround ground, RunGround::Find(ports));
  DOSSIER_RETURN_IF_ERROR(RecoverFirst(ground, ports));
  DOSSIER_ASSIGN_OR_RETURN(const Interrupted found, ReadInterrupted(run, ports, ground));
  DOSSIER_RETURN_IF_ERROR(RemoveRecordedWorktrees(ground.state, found.run));
  DOSSIER_RETURN_IF_ERROR(ReturnTasks(ground, found.progress));
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, RunLogFolder(ports));
  std::vector<store::Event> events;
  DOSSIER_ASSIGN_OR_RETURN(auto log,
                           AgentLog::Reopen(PlacesOf(ports, folder, {}), found.run, &events));
  DOSSIER_RETURN_IF_ERROR(log->Add("run.finished", "", {{"status", "abandoned"}, {"answer", ""}}));
  return found.run;
}

}  // namespace dossier::agents
