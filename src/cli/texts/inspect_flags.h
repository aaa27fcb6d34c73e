// The flags of `dossier inspect`.

#ifndef DOSSIER_CLI_TEXTS_INSPECT_FLAGS_H_
#define DOSSIER_CLI_TEXTS_INSPECT_FLAGS_H_

#include <CLI/App.hpp>

#include "cli/texts/inspect_command.h"

namespace dossier::cli {

void AddInspectCommand(CLI::App& command, InspectArguments* arguments);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TEXTS_INSPECT_FLAGS_H_
