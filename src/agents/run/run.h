// A run of engineer -> reviewer work over a queue of tasks: what `dossier agents` does.
//
//   RunPorts ports{.folder = ".", .clock = SystemClock(), .agents = agents, …};
//   DOSSIER_ASSIGN_OR_RETURN(const AgentRunResult summary, RunTasks({.workers = 4}, ports));
//   for (const TaskResult& result : summary.results) Print(result.id, StatusName(result.status));
//
// Tasks that fail are results, not errors. Errors say that the run could not start or had to stop;
// what is merged stays merged, and ResumeRun goes on.
//
// Thread-safety: functions that block their caller; several processes may run at the same time.

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

// What a run needs from outside.
struct RunPorts {
  std::string folder = ".";  // anywhere in the work tree
  std::shared_ptr<const Clock> clock;
  std::vector<std::string> environment;  // "NAME=value" of the process
  sources::AgentsConfig agents;
  // Connects the model of a built-in engine; "default" is the one that nothing names.
  driver::OpenModel open_model;
  std::string journal_folder;
  assembly::AssetFolders assets;
  driver::SectionMakers makers;                    // of sections that a user's layouts add
  std::function<void(const store::Event&)> watch;  // may be empty
  std::function<void(std::string_view)> warn;      // sentences for people; may be empty
  CancelToken cancel;
};

struct AgentRunResult {
  std::string run, log_path;
  std::vector<TaskResult> results;       // in the order of the tasks
  std::vector<std::string> not_started;  // ids: the run was stopped before
  int exit_code = 0;                     // of the process, unless a signal ended the run
};

// Errors: kConfig (configuration, tasks, policy; all that would stop every task: programs of
// engines and checks, an identity for commits, a merge in progress), kNotFound (task, engine,
// branch), kUnavailable (no confinement), kFailed (git), kIo (the disk is full), kLocked.
Result<AgentRunResult> RunTasks(const RunOptions& options, const RunPorts& ports);

// `run`: an id or the start of one; empty: the newest that is not finished. Errors: also kNotFound
// with the nearest ids; kLocked while a process is at it; kConfig if policy or a task changed.
Result<AgentRunResult> ResumeRun(std::string_view run, const RunPorts& ports);

// Closes an interrupted run: worktrees and claims are free, tasks are pending again. Returns its
// id.
Result<std::string> AbandonRun(std::string_view run, const RunPorts& ports);

// A new run over the tasks of `run` that it did not merge, with its options; `run` as of ResumeRun,
// empty: the newest that is finished. Errors: as RunTasks; kNotFound if there is nothing to do
// again.
Result<AgentRunResult> RetryRun(std::string_view run, const RunPorts& ports);

// Merges the newest patch of `task` that a reviewer approved and nothing merged: of a dry run, or
// of one that made branches. The checks run over what the branch gets, unless `checks` is kNone;
// nothing else is done again, unless the branch has moved. Errors: as RunTasks; kNotFound if there
// is none; kConfig if the task has changed since.
Result<AgentRunResult> MergeApproved(std::string_view task, RunOptions::MergeChecks checks,
                                     const RunPorts& ports);

// What runs left behind: worktrees and refs of runs that nobody is at, and what was kept of
// attempts of finished runs that began before `older_than`. Approved patches that are not merged
// stay, and so do logs.
struct TidyOptions {
  Clock::Wall older_than;
  enum class Doing { kRemove, kTell } doing = Doing::kRemove;
};
struct TidyReport {
  std::vector<std::string> removed;  // folders and refs, sorted
  std::uint64_t bytes = 0;           // of the folders
};
Result<TidyReport> TidyRuns(const TidyOptions& options, const RunPorts& ports);

// What RunTasks would do, without starting anything but git.
struct RunPlan {
  std::string base, ref, engineer, reviewer;
  struct Step {
    std::string task, summary;
    std::int64_t prompt_tokens = 0;
    std::string blocked;  // why it would not start
  };
  std::vector<Step> steps;            // in the order of starting
  std::vector<std::string> problems;  // why RunTasks would not start; sentences
};
Result<RunPlan> PlanRun(const RunOptions& options, const RunPorts& ports);

// The exact prompt that a run would send for `task`; a reviewer's with an empty patch and no token
// that would count. Errors: kNotFound for an unknown task.
struct RolePrompt {
  std::string text;
  Json report;
  std::vector<std::string> warnings;
};
Result<RolePrompt> PromptOf(std::string_view role, std::string_view task, const RunPorts& ports);

// Of `tasks`, the ids of those that a recorded run merged as they are now and HEAD still has: no
// run works on them again. Empty where that cannot be told.
std::set<std::string> MergedTasks(std::span<const sources::Task> tasks, const RunPorts& ports);

// The folder of the run logs. Errors: kNotFound outside of a repository.
Result<std::string> RunLogFolder(const RunPorts& ports);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_RUN_H_
