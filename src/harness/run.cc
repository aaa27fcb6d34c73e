#include "harness/run.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <mutex>

#include "base/text.h"
#include "harness/progress.h"
#include "harness/run_setup.h"
#include "harness/task_json.h"
#include "harness/task_merge.h"
#include "harness/task_queue.h"
#include "harness/task_work.h"
#include "harness/workers.h"

namespace dossier::harness {
namespace {

constexpr std::size_t kMaxListed = 10'000;  // runs of the journal that are looked at

RunLogPlaces PlacesOf(const RunPorts& ports, std::string folder, SecretValues secrets) {
  return {.runs_folder = std::move(folder),
          .journal_folder = ports.journal_folder,
          .clock = ports.clock,
          .secrets = std::move(secrets),
          .watch = ports.watch};
}

// Everything that was recorded at the start, for a resume.
JsonObject StartedEvent(const RunSetup& setup, const RunOptions& options) {
  JsonArray tasks;
  for (const sources::Task& task : setup.tasks()) tasks.push_back(TaskToJson(task));
  return {{"kind", "agents"},
          {"question", fmt::format("agents: {} tasks on {}", setup.tasks().size(), setup.ref())},
          {"model", fmt::format("{} + {}", setup.engineer_name(), setup.reviewer_name())},
          {"repository", setup.ground().git.folders().common},
          {"root", setup.ground().root},
          {"ref", setup.ref()},
          {"base", setup.base()},
          {"policy_file", setup.policy().file},
          {"policy_sha256", setup.policy().sha256},
          {"options", OptionsToJson(options)},
          {"tasks", std::move(tasks)}};
}

// One run, from open log to summary.
class Run {
 public:
  Run(const RunOptions& options, const RunPorts& ports, RunSetup& setup, RunBudget& budget,
      std::unique_ptr<RunLog> log, std::string claims)
      : options_(options),
        ports_(ports),
        setup_(setup),
        budget_(budget),
        log_(std::move(log)),
        claims_(std::move(claims)),
        results_(setup.tasks().size()),
        started_(NowMillis()) {}

  void SetProgress(const RunProgress* progress) { progress_ = progress; }

  Result<RunSummary> Go() {
    DOSSIER_ASSIGN_OR_RETURN(auto guard,
                             GitDirGuard::Take(setup_.ground().git, log_->run(), ports_.cancel));
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
            .ref = setup_.ref(),
            .clock = ports_.clock,
            .stop = ports_.cancel};
  }

  // Left out by --only, or finished by the run that is resumed.
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

  // A task that a recorded run has merged is skipped, and counts for what depends on it.
  static bool AlreadyMerged(const TaskResult& result) {
    return result.status == TaskStatus::kSkipped && !result.commit.empty();
  }

  Status RecordBlocked(const Blocked& one) {
    const sources::Task& task = setup_.tasks()[one.task];
    TaskResult result{.id = task.id, .summary = task.summary, .status = TaskStatus::kBlocked};
    result.reason = one.reason;
    result.targets = task.targets;
    result.confinement = options_.confinement;
    result.digest = TaskDigest(task);
    result.timestamp = NowMillis();
    DOSSIER_RETURN_IF_ERROR(log_->Add("task.finished", task.id, ResultToJson(result)));
    const std::lock_guard lock(results_mutex_);
    results_[one.task] = std::move(result);
    return {};
  }

  Result<RunSummary> Close() {
    RunSummary summary{.run = log_->run(), .log_path = log_->path()};
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

  // What the run had finished before it was interrupted counts for its exit code.
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
  std::unique_ptr<RunLog> log_;
  const ApprovalKey approvals_;
  const Claims claims_;
  std::mutex results_mutex_, records_mutex_;
  std::vector<std::optional<TaskResult>> results_;
  const RunProgress* progress_ = nullptr;
  const std::int64_t started_;
};

// The key of the approvals is in our memory: no engine may look at it.
void HideMemory() { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// The run that a person means. Errors: kNotFound.
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

// Tasks that were claimed wait again where a run looks for them.
Status ReturnTasks(const RunGround& ground, const RunProgress& progress) {
  for (const sources::Task& task : progress.tasks) {
    const TaskProgress& state = progress.progress.at(task.id);
    const bool open = state.stage != TaskProgress::Stage::kFinished &&
                      state.stage != TaskProgress::Stage::kNotStarted &&
                      state.stage != TaskProgress::Stage::kMerged;
    if (open) DOSSIER_RETURN_IF_ERROR(MoveTask(ground.root, task.file, Queue::kPending));
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

Result<std::string> RunLogFolder(const RunPorts& ports) {
  const auto folders = FindGitFolders(ports.folder);
  if (!folders) return MakeError(ErrorCode::kNotFound, "there is no git repository here");
  if (!ports.agents.runs.empty()) {
    return ports.agents.runs.front() == '/'
               ? ports.agents.runs
               : fmt::format("{}/{}", folders->root, ports.agents.runs);
  }
  return folders->common + "/dossier/runs";
}

Result<RunSummary> RunTasks(const RunOptions& options, const RunPorts& ports) {
  HideMemory();
  DOSSIER_ASSIGN_OR_RETURN(RunGround ground, RunGround::Find(ports));
  DOSSIER_RETURN_IF_ERROR(RecoverFirst(ground, ports));
  DOSSIER_ASSIGN_OR_RETURN(auto setup, RunSetup::Make(options, ports, std::move(ground)));
  RunBudget budget(options, ports.cancel, ports.clock);
  DOSSIER_RETURN_IF_ERROR(setup->MakeEngines(budget));
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, RunLogFolder(ports));
  DOSSIER_ASSIGN_OR_RETURN(auto log, RunLog::Start(PlacesOf(ports, folder, setup->secrets()),
                                                   StartedEvent(*setup, options)));
  DOSSIER_ASSIGN_OR_RETURN(std::string claims, setup->ground().state.Claims());
  return Run(options, ports, *setup, budget, std::move(log), std::move(claims)).Go();
}

Result<RunSummary> ResumeRun(std::string_view run, const RunPorts& ports) {
  HideMemory();
  DOSSIER_ASSIGN_OR_RETURN(RunGround ground, RunGround::Find(ports));
  DOSSIER_RETURN_IF_ERROR(RecoverFirst(ground, ports));
  DOSSIER_ASSIGN_OR_RETURN(const Interrupted found, ReadInterrupted(run, ports, ground));
  DOSSIER_RETURN_IF_ERROR(RemoveRecordedWorktrees(ground.git, ground.state, found.run));
  DOSSIER_RETURN_IF_ERROR(ReturnTasks(ground, found.progress));
  RunOptions options = found.progress.options;
  options.target = found.progress.ref.substr(std::string_view("refs/heads/").size());
  DOSSIER_ASSIGN_OR_RETURN(auto setup, RunSetup::Make(options, ports, std::move(ground)));
  DOSSIER_RETURN_IF_ERROR(CheckUnchanged(found, *setup));
  RunBudget budget(options, ports.cancel, ports.clock);
  DOSSIER_RETURN_IF_ERROR(setup->MakeEngines(budget));
  setup->AddFinished(found.progress);
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, RunLogFolder(ports));
  std::vector<store::Event> events;
  DOSSIER_ASSIGN_OR_RETURN(
      auto log, RunLog::Reopen(PlacesOf(ports, folder, setup->secrets()), found.run, &events));
  DOSSIER_RETURN_IF_ERROR(log->Add("run.resumed", "", {}));
  DOSSIER_ASSIGN_OR_RETURN(std::string claims, setup->ground().state.Claims());
  Run going(options, ports, *setup, budget, std::move(log), std::move(claims));
  going.SetProgress(&found.progress);
  return going.Go();
}

Result<std::string> AbandonRun(std::string_view run, const RunPorts& ports) {
  DOSSIER_ASSIGN_OR_RETURN(const RunGround ground, RunGround::Find(ports));
  DOSSIER_RETURN_IF_ERROR(RecoverFirst(ground, ports));
  DOSSIER_ASSIGN_OR_RETURN(const Interrupted found, ReadInterrupted(run, ports, ground));
  DOSSIER_RETURN_IF_ERROR(RemoveRecordedWorktrees(ground.git, ground.state, found.run));
  DOSSIER_RETURN_IF_ERROR(ReturnTasks(ground, found.progress));
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, RunLogFolder(ports));
  std::vector<store::Event> events;
  DOSSIER_ASSIGN_OR_RETURN(auto log,
                           RunLog::Reopen(PlacesOf(ports, folder, {}), found.run, &events));
  DOSSIER_RETURN_IF_ERROR(log->Add("run.finished", "", {{"status", "abandoned"}, {"answer", ""}}));
  return found.run;
}

Result<RunPlan> PlanRun(const RunOptions& options, const RunPorts& ports) {
  DOSSIER_ASSIGN_OR_RETURN(RunGround ground, RunGround::Find(ports));
  DOSSIER_ASSIGN_OR_RETURN(const auto setup, RunSetup::Make(options, ports, std::move(ground)));
  RunPlan plan{.base = setup->base(),
               .ref = setup->ref(),
               .engineer = setup->engineer_name(),
               .reviewer = setup->reviewer_name()};
  const Schedule schedule(setup->tasks(), setup->merged(), setup->left_out());
  const auto kind = RoleEngine{ports.agents.FindEngine(plan.engineer), nullptr}.prompt_kind();
  for (const std::size_t place : schedule.Order()) {
    const sources::Task& task = setup->tasks()[place];
    const WorkPrompt prompt(setup->prompts(), {.engine = kind, .task = &task});
    DOSSIER_ASSIGN_OR_RETURN(const sources::AgentPrompt made, prompt.ForProgram());
    plan.steps.push_back({.task = task.id,
                          .summary = task.summary,
                          .prompt_tokens = made.assembled.tokens,
                          .blocked = {}});
  }
  for (const Blocked& one : schedule.blocked()) {
    const sources::Task& task = setup->tasks()[one.task];
    plan.steps.push_back({.task = task.id, .summary = task.summary, .blocked = one.reason});
  }
  return plan;
}

Result<RolePrompt> PromptOf(std::string_view role, std::string_view id, const RunPorts& ports) {
  DOSSIER_ASSIGN_OR_RETURN(RunGround ground, RunGround::Find(ports));
  const RunOptions options{.confinement = Confinement::kNone};
  DOSSIER_ASSIGN_OR_RETURN(const auto setup, RunSetup::Make(options, ports, std::move(ground)));
  DOSSIER_ASSIGN_OR_RETURN(const sources::Task task, sources::FindTask(setup->tasks(), id));
  const bool review = role != "engineer";
  const std::string& name = review ? setup->reviewer_name() : setup->engineer_name();
  PromptContent content{
      .role = review ? sources::AgentRole::kReviewer : sources::AgentRole::kEngineer,
      .engine = RoleEngine{ports.agents.FindEngine(name), nullptr}.prompt_kind(),
      .task = &task};
  if (review) {
    content.patch = "(the patch)\n";
    content.token = "APPROVED-(the token)";
  }
  DOSSIER_ASSIGN_OR_RETURN(sources::AgentPrompt made,
                           WorkPrompt(setup->prompts(), std::move(content)).ForProgram());
  return RolePrompt{sources::PromptText(made.assembled.messages), std::move(made.assembled.report),
                    std::move(made.warnings)};
}

}  // namespace dossier::harness
