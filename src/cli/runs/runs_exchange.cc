// runs export, import, diff, view: a run as a file that others read, and one beside another.

#include "cli/runs/runs_commands.h"

namespace dossier::cli {

std::vector<Command> ExchangeCommands() { return {}; }

}  // namespace dossier::cli
