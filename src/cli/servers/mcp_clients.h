// Commands of `dossier mcp` that are about the assistants which start it: install, uninstall,
// doctor.
//
// For mcp_command.cc alone.
//
// Thread-safety: commands run on the main thread.

#ifndef DOSSIER_CLI_SERVERS_MCP_CLIENTS_H_
#define DOSSIER_CLI_SERVERS_MCP_CLIENTS_H_

#include <vector>

#include "cli/tree/command.h"

namespace dossier::cli {

std::vector<Command> McpClientCommands();

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SERVERS_MCP_CLIENTS_H_
