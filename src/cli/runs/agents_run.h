// The commands of `dossier agents` that write: run, prompt, resume.
//
// Thread-safety: none needed; one call per process.

#ifndef DOSSIER_CLI_RUNS_AGENTS_RUN_H_
#define DOSSIER_CLI_RUNS_AGENTS_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "agents/run/run.h"
#include "base/result.h"
#include "cli/tree/command.h"
#include "cli/wiring/shared_flags.h"

namespace dossier::cli {

struct AgentsArguments {
  // For run and prompt.
  std::int64_t workers = 1, attempts = 2;
  std::vector<std::string> tasks, only;
  std::string target, engineer, reviewer;
  std::string confine = "jail";
  std::vector<std::string> degraded;
  LimitFlags limits;
  bool dry_run = false, branch = false, plan = false, keep_worktrees = false, no_notes = false,
       no_checks = false;
  std::string script;  // replies of the model `scripted`
  // For prompt.
  std::string targets;
  std::vector<std::string> text;
  // For context.
  std::string role, task;
  bool report = false;
  // For status and resume.
  std::string run;
  bool follow = false, abandon = false;
  // For gc.
  std::string older_than = "30d";
  bool tell = false;
  bool json = false;
};

// Creates the configuration and other inputs of a run. Errors: kConfig, kRefused.
Result<agents::RunPorts> MakePorts(const AgentsArguments& arguments, Context& context);

// These return the exit code. Errors: as agents::RunTasks; kUsage.
Result<int> WorkQueue(const AgentsArguments& arguments, Context& context);
Result<int> WorkPrompt(const AgentsArguments& arguments, Context& context);
Result<int> ResumeWork(const AgentsArguments& arguments, Context& context);
Result<int> RetryWork(const AgentsArguments& arguments, Context& context);
Result<int> MergeWork(const AgentsArguments& arguments, Context& context);
Result<int> TidyWork(const AgentsArguments& arguments, Context& context);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_AGENTS_RUN_H_
