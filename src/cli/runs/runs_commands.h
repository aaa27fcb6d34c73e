// Declares the commands below `runs`, by the files that hold them, and what they share.
//
// Thread-safety: commands run on the main thread.

#ifndef DOSSIER_CLI_RUNS_RUNS_COMMANDS_H_
#define DOSSIER_CLI_RUNS_RUNS_COMMANDS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "cli/tree/command.h"
#include "store/journal.h"

namespace dossier::cli {

// Opens the journal of the user's runs.
Result<std::unique_ptr<store::Journal>> OpenRuns();
// Returns the command of a run ("ask", "chat", …) from the data of its `run.started`.
std::string KindOf(const JsonObject& started);

std::vector<Command> AgainCommands();     // resume, fork, replay
std::vector<Command> ExchangeCommands();  // diff, export, import, view
std::vector<Command> SharedCommands();    // put, cancel

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RUNS_COMMANDS_H_
