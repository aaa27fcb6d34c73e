// `dossier runs`: what was asked before, step by step.

#ifndef DOSSIER_CLI_RUNS_RUNS_COMMAND_H_
#define DOSSIER_CLI_RUNS_RUNS_COMMAND_H_

#include <CLI/App.hpp>
#include <optional>
#include <ostream>
#include <string>

#include "cli/wiring/global_flags.h"

namespace dossier::cli {

struct RunsArguments {
  std::string action;  // list, show, prune, resume
  std::string run;     // a unique prefix is enough; last: the newest
  std::string status;
  std::size_t limit = 20;
  std::optional<int> turn;
  bool messages = false, events = false, json = false;
  std::optional<std::size_t> keep;  // of prune
  std::string older;
  bool dry_run = false;
};

void AddRunsCommand(CLI::App& command, RunsArguments* arguments);
int RunRuns(const RunsArguments& arguments, const GlobalFlags& flags, std::ostream& out,
            std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RUNS_COMMAND_H_
