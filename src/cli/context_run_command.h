// `dossier context run`: context commands and their blocks, without a model.
//
// Blocks go to stdout, warnings to stderr. Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_CONTEXT_RUN_COMMAND_H_
#define DOSSIER_CLI_CONTEXT_RUN_COMMAND_H_

#include <CLI/App.hpp>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "sources/context_command.h"
#include "sources/variables.h"

namespace dossier::cli {

// What layered config files say; empty without any.
struct ContextConfig {
  std::vector<sources::ContextCommand> commands;
  sources::VariableInput variables;  // `declared`; the rest comes from the command line
  std::vector<std::string> known_keys;
};

struct ContextRunArguments {
  bool chosen = false;  // this is the command of the line
  std::vector<std::string> exec, argv, variables;
  std::string block;
  std::int64_t jobs = 16;         // --context-jobs
  std::string timeout = "120";    // --context-timeout
  bool json = false;
  ContextConfig config;
  CancelToken cancel;
};

// Returns the exit code: 0, 3 (config, variable, template), 14 (a command with `fail` failed).
int RunContextRun(const ContextRunArguments& arguments, std::ostream& out,
                  std::ostream& err);

// Below `context`, which must be there.
void AddContextRun(CLI::App& app, ContextRunArguments* arguments);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CONTEXT_RUN_COMMAND_H_
