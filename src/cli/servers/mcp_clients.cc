#include "cli/servers/mcp_clients.h"

namespace dossier::cli {

std::vector<Command> McpClientCommands() { return {}; }

}  // namespace dossier::cli
