// Runs engineer and reviewer over a queue of tasks: what `dossier agents` does.
//
//   RunPorts ports{.folder = ".", .clock = SystemClock(), .agents = agents, …};
//   DOSSIER_ASSIGN_OR_RETURN(const AgentRunResult summary, RunTasks({.workers = 4}, ports));
//   for (const TaskResult& result : summary.results) Print(result.id, StatusName(result.status));
//
// Failed tasks are results, not errors. An error means that the run could not start or had to stop;
// what is merged stays merged, and ResumeRun continues.
//
// Thread-safety: functions that block the caller; several processes may run concurrently.

#ifndef DOSSIER_AGENTS_RUN_RUN_H_
#define DOSSIER_AGENTS_RUN_RUN_H_

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/engine/builtin_engine.h"
#include "agents/task/run_options.h"
#include "agents/task/task_result.h"
#include "assembly/layout/layout.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "driver/bound_model.h"
#include "driver/section_reader.h"
#include "sources/header/agents_config.h"
#include "store/journal.h"

namespace dossier::agents {

// External services and settings that a run needs.
struct RunPorts {
  std::string folder = ".";  // any folder in the work tree
  std::shared_ptr<const Clock> clock;
  std::vector<std::string> environment;  // of the process, "NAME=value"
  sources::AgentsConfig agents;
  // Connects the model of a built-in engine; "default" if the configuration names none.
  driver::OpenModel open_model;
  std::string journal_folder;
  assembly::AssetFolders assets;
  driver::SectionMakers makers;                    // for the sections that a user's layouts add
  std::function<void(const store::Event&)> watch;  // may be empty
  std::function<void(std::string_view)> warn;      // sentences for people; may be empty
  CancelToken cancel;
};

struct AgentRunResult {
  std::string run, log_path;
  std::vector<TaskResult> results;       // in task order
  std::vector<std::string> not_started;  // ids: the run stopped before them
  int exit_code = 0;                     // exit code of the process, unless a signal ended the run
};

// Errors: kConfig (configuration, tasks, policy; everything that would stop every task: programs of
// engines and checks, commit identity, a merge in progress), kNotFound (task, engine, branch),
// kUnavailable (no confinement), kFailed (git), kIo (the disk is full), kLocked.
Result<AgentRunResult> RunTasks(const RunOptions& options, const RunPorts& ports);

// `run`: an id or a prefix of one; empty: the newest unfinished run. Errors: also kNotFound with
// the nearest ids; kLocked while a process works on it; kConfig if policy or a task changed.
Result<AgentRunResult> ResumeRun(std::string_view run, const RunPorts& ports);

// Closes an interrupted run: removes its worktrees, returns its tasks to pending. Returns its id.
Result<std::string> AbandonRun(std::string_view run, const RunPorts& ports);

// Starts a new run over the tasks of `run` that it did not merge, with its options; `run` as in
// ResumeRun, empty: the newest finished one. Errors: as RunTasks; kNotFound if no task is left.
Result<AgentRunResult> RetryRun(std::string_view run, const RunPorts& ports);

// Merges the newest approved, unmerged patch of `task`, from a dry run or a run that made branches.
// The checks run on the merged state, unless `checks` is kNone; nothing else is repeated, unless
// the branch has moved. Errors: as RunTasks; kNotFound if there is none; kConfig if the task has
// changed since.
Result<AgentRunResult> MergeApproved(std::string_view task, RunOptions::MergeChecks checks,
                                     const RunPorts& ports);

// What TidyRuns removes (kRemove) or only reports (kTell): worktrees and refs of runs that no
// process works on, and files of attempts of finished runs that began before `older_than`.
// Approved, unmerged patches and logs are kept.
struct TidyOptions {
  Clock::Wall older_than;
  enum class Doing { kRemove, kTell } doing = Doing::kRemove;
};
struct TidyReport {
  std::vector<std::string> removed;  // folders and refs, sorted
  std::uint64_t bytes = 0;           // of the folders
};
Result<TidyReport> TidyRuns(const TidyOptions& options, const RunPorts& ports);

// What RunTasks would do, found without starting anything but git.
struct RunPlan {
  std::string base, ref, engineer, reviewer;
  struct Step {
    std::string task, summary;
    std::int64_t prompt_tokens = 0;
    std::string blocked;  // the reason why it would not start
  };
  std::vector<Step> steps;            // in starting order
  std::vector<std::string> problems;  // sentences: why RunTasks would not start
};
Result<RunPlan> PlanRun(const RunOptions& options, const RunPorts& ports);

// Returns the exact prompt that a run would send for `task`; a reviewer's has an empty patch and an
// invalid token. Errors: kNotFound for an unknown task.
struct RolePrompt {
  std::string text;
  Json report;
  std::vector<std::string> warnings;
};
Result<RolePrompt> PromptOf(std::string_view role, std::string_view task, const RunPorts& ports);

// Returns the ids of those `tasks` that a recorded run merged in their present form and that HEAD
// still contains: no run works on them again. Empty if that is unknown.
std::set<std::string> MergedTasks(std::span<const sources::Task> tasks, const RunPorts& ports);

// Returns the folder of the run logs. Errors: kNotFound outside a repository.
Result<std::string> RunLogFolder(const RunPorts& ports);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_RUN_H_
