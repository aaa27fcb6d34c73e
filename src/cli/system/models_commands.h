// Commands below `dossier models` that manage the local model or ask providers for their lists, and
// the server of scripted replies.
//
// Thread-safety: commands run on the main thread.

#ifndef DOSSIER_CLI_SYSTEM_MODELS_COMMANDS_H_
#define DOSSIER_CLI_SYSTEM_MODELS_COMMANDS_H_

#include <vector>

#include "cli/tree/command.h"

namespace dossier::cli {

std::vector<Command> LocalModelCommands();  // pull, start, stop, status
Command RefreshModelsCommand();
Command ServeScriptCommand();

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_MODELS_COMMANDS_H_
