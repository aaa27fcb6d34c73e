// `dossier context refresh` and `dossier context drift`: a frozen context beside what its commands
// give now.
//
// Both run the commands of the present, trusted configuration and of --exec. What a conversation
// file records as a command is never run: data must not run code.
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_CONVERSATIONS_CONTEXT_REFRESH_COMMAND_H_
#define DOSSIER_CLI_CONVERSATIONS_CONTEXT_REFRESH_COMMAND_H_

#include <CLI/App.hpp>
#include <iosfwd>
#include <string>

#include "base/cancel.h"
#include "cli/wiring/context_setup.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

struct ContextRefreshArguments {
  std::string action;  // refresh, drift; "" if neither is the command of the line
  std::string id, block;
  ContextFlags context;
  bool dry_run = false, diff = false, json = false;
};

// Returns the exit code: 0, 3, 4 (no such conversation, block), 12 (trust), 14 (a command with
// `fail` failed; nothing is changed), 15 (`drift` found a difference).
int RunContextRefresh(const ContextRefreshArguments& arguments, const GlobalFlags& global,
                      const CancelToken& cancel, std::ostream& out, std::ostream& err);

// Below `context`, which must be there.
void AddContextRefresh(CLI::App& context, ContextRefreshArguments* arguments);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CONVERSATIONS_CONTEXT_REFRESH_COMMAND_H_
