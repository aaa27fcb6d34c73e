// `dossier mcp servers`: lists, trusts and calls third-party tool servers by hand.
//
// Used only by mcp_command.cc.
//
// Thread-safety: commands run on the main thread.

#ifndef DOSSIER_CLI_SERVERS_MCP_SERVERS_H_
#define DOSSIER_CLI_SERVERS_MCP_SERVERS_H_

#include "cli/tree/command.h"

namespace dossier::cli {

Command McpServersCommand();

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SERVERS_MCP_SERVERS_H_
