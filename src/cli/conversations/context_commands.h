// The commands of `dossier context` that run the commands of the current, trusted configuration and
// of --exec. Commands recorded in a conversation file are never run: data must not run code.
//
// Thread-safety: commands run on the main thread.

#ifndef DOSSIER_CLI_CONVERSATIONS_CONTEXT_COMMANDS_H_
#define DOSSIER_CLI_CONVERSATIONS_CONTEXT_COMMANDS_H_

#include "cli/tree/command.h"

namespace dossier::cli {

Command ContextRunCommand();
Command ContextRefreshCommand();
Command ContextDriftCommand();

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CONVERSATIONS_CONTEXT_COMMANDS_H_
