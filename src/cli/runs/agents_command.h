// `dossier agents`: engineer -> reviewer work on a queue of tasks.
//
// Results go to stdout, progress and the summary to stderr. Thread-safety: none needed; one call a
// process.

#ifndef DOSSIER_CLI_RUNS_AGENTS_COMMAND_H_
#define DOSSIER_CLI_RUNS_AGENTS_COMMAND_H_

#include <CLI/App.hpp>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/limit_flags.h"

namespace dossier::cli {

struct AgentsArguments {
  std::string action;  // run, prompt, context, lint-notes, status, resume
  // Of run and prompt.
  std::int64_t workers = 1, attempts = 2;
  std::vector<std::string> tasks, only;
  std::string target, engineer, reviewer;
  std::string confine = "landlock";
  LimitFlags limits;
  bool dry_run = false, plan = false, keep_worktrees = false, no_notes = false;
  std::string script;  // replies of the model `scripted`
  // Of prompt.
  std::string targets;
  std::vector<std::string> text;
  // Of context.
  std::string role, task;
  bool report = false;
  // Of status and resume.
  std::string run;
  bool follow = false, abandon = false;
  bool json = false;
  std::vector<std::string> argv;  // of the process, to see where flags stand
};

void AddAgentsCommand(CLI::App& command, AgentsArguments* arguments);

// Returns the exit code.
int RunAgents(const AgentsArguments& arguments, const GlobalFlags& flags, const CancelToken& cancel,
              std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_AGENTS_COMMAND_H_
