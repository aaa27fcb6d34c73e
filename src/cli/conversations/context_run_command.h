// `dossier context run`: the commands of the configuration and of --exec, and their blocks, without
// a model.
//
// Blocks go to stdout, warnings to stderr. Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_CONVERSATIONS_CONTEXT_RUN_COMMAND_H_
#define DOSSIER_CLI_CONVERSATIONS_CONTEXT_RUN_COMMAND_H_

#include <CLI/App.hpp>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "cli/wiring/context_setup.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

struct ContextRunArguments {
  bool chosen = false;  // this is the command of the line
  ContextFlags context;
  std::vector<std::string> argv;
  std::string block;
  bool no_context_exec = false, json = false;
  CancelToken cancel;
};

// Returns the exit code: 0, 3 (config, variable, template), 12 (a project's config is not trusted;
// nothing ran), 14 (a command with `fail` failed).
int RunContextRun(const ContextRunArguments& arguments, const GlobalFlags& global,
                  std::ostream& out, std::ostream& err);

// Below `context`, which must be there.
void AddContextRun(CLI::App& context, ContextRunArguments* arguments);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CONVERSATIONS_CONTEXT_RUN_COMMAND_H_
