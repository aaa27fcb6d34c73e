// Commands of `dossier mcp` for the assistants that start it: install, uninstall, doctor.
//
// Used only by mcp_command.cc.
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
