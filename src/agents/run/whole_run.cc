#include "agents/run/whole_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "agents/run/task_work.h"
#include "agents/run/workers.h"
#include "agents/task/task_json.h"

namespace dossier::agents {
namespace {

// One run, from open log to summary.
class Run {
 public:
  Run(const WholeRunParts& parts, std::unique_ptr<AgentLog> log, std::string claims,
      const RunProgress* progress)
      : options_(parts.options),
        ports_(parts.ports),
        setup_(parts.setup),
        budget_(parts.budget),
        log_(std::move(log)),
        claims_(std::move(claims)),
        results_(setup_.tasks().size()),
        progress_(progress),
        started_(NowMillis()) {}

  Result<AgentRunResult> Go() {
    DOSSIER_ASSIGN_OR_RETURN(
        auto guard, GitDirGuard::Take(setup_.ground().git, log_->run(),
                                      setup_.ground().state.Undone(log_->run()), ports_.cancel));
    GuardWatch watch(*guard);
    Work work = MakeWork(watch);
    Schedule schedule(setup_.tasks(), setup_.merged(), LeftOut());
    WorkerParts parts;
    parts.count = std::min<std::int64_t>(
        options_.workers, static_cast<std::int64_t>(std::max<std::size_t>(1, results_.size())));
    parts.stopped = [this] { return ports_.cancel.cancelled() || budget_.used_up().has_value(); };
    parts.work = [&](std::size_t task, int worker) { return WorkOn(work, task, worker); };
    parts.blocked = [&](const Blocked& one) { return RecordBlocked(one); };
    DOSSIER_RETURN_IF_ERROR(Workers(schedule, std::move(parts)).Run());
    return Close();
  }

 private:
  std::int64_t NowMillis() const {
    return std::chrono::duration_cast<Millis>(ports_.clock->WallNow().time_since_epoch()).count();
  }

  Work MakeWork(GuardWatch& guard) {
    const RunGround& ground = setup_.ground();
    return {.options = options_,
            .agents = ports_.agents,
            .policy = setup_.policy(),
            .control = setup_.control(),
            .git = ground.git,
            .state = ground.state,
            .prompts = setup_.prompts(),
            .engineer = setup_.engineer(),
            .reviewer = setup_.reviewer(),
            .engineer_name = setup_.engineer_name(),
            .reviewer_name = setup_.reviewer_name(),
            .log = *log_,
            .budget = budget_,
            .guard = guard,
            .approvals = approvals_,
            .claims = claims_,
            .records = setup_.records(),
            .records_mutex = records_mutex_,
            .environment = ports_.environment,
            .secrets = setup_.secrets(),
            .root = ground.root,
            .walls = setup_.walls(),
            .ref = setup_.ref(),
            .clock = ports_.clock,
            .stop = ports_.cancel};
  }

  // Returns the tasks excluded by --only, or finished by the run that is resumed.
  std::set<std::string> LeftOut() const {
    std::set<std::string> ids = setup_.left_out();
    if (!progress_) return ids;
    for (const auto& [id, task] : progress_->progress) {
      if (task.stage == TaskProgress::Stage::kFinished) ids.insert(id);
    }
    return ids;
  }

  Result<Schedule::Ended> WorkOn(Work& work, std::size_t place, int worker) {
    const sources::Task& task = setup_.tasks()[place];
    TaskStart start{.worker = worker, .run_started = started_, .progress = {}};
    if (progress_) {
      if (const auto found = progress_->progress.find(task.id);
          found != progress_->progress.end() &&
          found->second.stage != TaskProgress::Stage::kNotStarted) {
        start.progress = found->second;
      }
    }
    DOSSIER_ASSIGN_OR_RETURN(TaskResult result, TaskWork(work, task, std::move(start)).Run());
    const bool merged = result.status == TaskStatus::kMerged || AlreadyMerged(result);
    const std::lock_guard lock(results_mutex_);
    results_[place] = std::move(result);
    return merged ? Schedule::Ended::kMerged : Schedule::Ended::kOther;
  }

  // A task that a recorded run merged is skipped, and satisfies its dependents.
  static bool AlreadyMerged(const TaskResult& result) {
    return result.status == TaskStatus::kSkipped && !result.commit.empty();
  }

  Status RecordBlocked(const Blocked& one) {
    const sources::Task& task = setup_.tasks()[one.task];
    TaskResult result{.id = task.id, .summary = task.summary, .status = TaskStatus::kBlocked};
    result.reason = one.reason;
    result.targets = task.targets;
    result.confinement = setup_.walls();
    result.digest = TaskDigest(task);
    result.timestamp = NowMillis();
    DOSSIER_RETURN_IF_ERROR(log_->Add("task.finished", task.id, ResultToJson(result)));
    const std::lock_guard lock(results_mutex_);
    results_[one.task] = std::move(result);
    return {};
  }

  Result<AgentRunResult> Close() {
    AgentRunResult summary{.run = log_->run(), .log_path = log_->path()};
    const auto budget = budget_.used_up();
    std::vector<TaskStatus> statuses;
    std::map<std::string, std::int64_t> counts;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const sources::Task& task = setup_.tasks()[i];
      if (results_[i]) {
        statuses.push_back(results_[i]->status);
        ++counts[std::string(StatusName(results_[i]->status))];
        summary.results.push_back(std::move(*results_[i]));
      } else if (!LeftOut().contains(task.id)) {
        summary.not_started.push_back(task.id);
        statuses.push_back(budget ? TaskStatus::kBudget : TaskStatus::kInterrupted);
      }
    }
    AddEarlier(&statuses);
    summary.exit_code = ExitCodeOf(statuses);
    const bool interrupted = ports_.cancel.cancelled();
    std::string answer;
    for (const auto& [status, count] : counts) {
      answer += fmt::format("{}{} {}", answer.empty() ? "" : ", ", count, status);
    }
    DOSSIER_RETURN_IF_ERROR(log_->Add("run.finished", "",
                                      {{"status", interrupted              ? "interrupted"
                                                  : summary.exit_code == 0 ? "final"
                                                                           : "partial"},
                                       {"answer", answer},
                                       {"exit", summary.exit_code}}));
    return summary;
  }

  // Adds what the run finished before it was interrupted, for the exit code.
  void AddEarlier(std::vector<TaskStatus>* statuses) const {
    if (!progress_) return;
    for (const auto& [id, task] : progress_->progress) {
      if (task.stage != TaskProgress::Stage::kFinished) continue;
      const auto status = ParseStatus(FindString(Json(task.result), "status").value_or(""));
      if (status) statuses->push_back(*status);
    }
  }

  const RunOptions& options_;
  const RunPorts& ports_;
  RunSetup& setup_;
  RunBudget& budget_;
  std::unique_ptr<AgentLog> log_;
  const ApprovalKey approvals_;
  const Claims claims_;
  std::mutex results_mutex_, records_mutex_;
  std::vector<std::optional<TaskResult>> results_;
  const RunProgress* const progress_;
  const std::int64_t started_;
};

}  // namespace

Result<AgentRunResult> WorkAll(const WholeRunParts& parts, std::unique_ptr<AgentLog> log,
                               const RunProgress* progress) {
  DOSSIER_ASSIGN_OR_RETURN(std::string claims, parts.setup.ground().state.Claims());
  return Run(parts, std::move(log), std::move(claims), progress).Go();
}

RunLogPlaces PlacesOf(const RunPorts& ports, std::string folder, SecretValues secrets) {
  return {.runs_folder = std::move(folder),
          .journal_folder = ports.journal_folder,
          .clock = ports.clock,
          .secrets = std::move(secrets),
          .watch = ports.watch};
}

}  // namespace dossier::agents
