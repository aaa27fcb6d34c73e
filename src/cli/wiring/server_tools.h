// Tools of the servers that `mcp_servers` names, for the code of `ask` and the model of `chat`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto tools, ServerTools({.names = {"shop"}}, config, cancel));
//   // in code: shop_price(item="A1")
//
// Thread-safety: the tools from any thread, many calls at once.

#ifndef DOSSIER_CLI_WIRING_SERVER_TOOLS_H_
#define DOSSIER_CLI_WIRING_SERVER_TOOLS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/tools.h"
#include "base/cancel.h"
#include "base/json/json.h"
#include "base/net/named_place.h"
#include "base/result.h"
#include "cli/tree/command.h"
#include "config/config.h"

namespace dossier::cli {

// kLookedAt: no server is started; the trusted tools are described, and their calls fail.
enum class ServerUse : std::uint8_t { kCalled, kLookedAt };

struct WantedServers {
  std::vector<std::string> names;  // values of --mcp, "A,B"
  ServerUse use = ServerUse::kCalled;
  Network network = Network::kAny;
  std::function<void(std::string_view)> say;  // gets warnings
};

void AddServersFlag(Flags flags, std::vector<std::string>* to);

// Starts the servers, which end with the last of their tools. A tool that only reads or is allowed
// by name becomes NAME_TOOL; one whose schema cannot be read is left out, with a warning. The
// message of a failed call begins with "ToolError: ". Errors: kNotFound (no such server), kRefused
// (other tools than the trusted ones), kConfig (none may be used), those of starting a server.
Result<std::vector<ask::Tool>> ServerTools(const WantedServers& wanted,
                                           const config::Config& config, const CancelToken& cancel);

// Returns the beginning of a tool's description, on one line.
std::string ToolDescription(const Json& tool);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_SERVER_TOOLS_H_
