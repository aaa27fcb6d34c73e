// A client of a foreign tool server: a program in the jail, reached over its pipes, or an address.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto client, ToolServer::Connect(spec, network, cancel));
//   DOSSIER_ASSIGN_OR_RETURN(const JsonArray tools, client->Tools(cancel));
//   DOSSIER_ASSIGN_OR_RETURN(const ToolResult result, client->Call(tools[0], {{"item", "A1"}},
//   cancel));
//
// server/discover determines the era; a server that does not know it gets initialize. The server is
// untrusted: its lines, time and sizes are limited, and its own requests are refused with -32601.
// An address gets its headers from variables of the environment; redirects are not followed.
// Errors: kUnavailable (no jail), kAuth and kNetwork (of an address), kNotFound (the program),
// kTimeout, kTooLong, kProtocol (it violates the protocol), kDied, kInvalidArgument (arguments that
// its schema refuses, before anything is sent), kRefused (a tool that may not be used), kFailed
// (the tool reports a failure), kCancelled. Thread-safety: all methods from any thread, many calls
// at once.

#ifndef DOSSIER_SERVER_MCP_CLIENT_H_
#define DOSSIER_SERVER_MCP_CLIENT_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/net/named_place.h"
#include "base/result.h"
#include "config/config.h"

namespace dossier::mcp {

// One entry of `mcp_servers` in the configuration.
struct ServerSpec {
  std::string name;
  std::vector<std::string> argv;  // empty: `url`
  std::string url;
  std::vector<std::pair<std::string, std::string>> header_env;  // header, variable with its value
  std::vector<std::string> env;    // names of our environment variables to pass
  std::vector<std::string> tools;  // may be used though not marked as read-only
  std::vector<std::string> read;   // folders that the server may read
  Millis timeout{30'000};          // for one answer
  bool network = false;
};

// Errors: kConfig with FILE:LINE:COL.
Result<std::vector<ServerSpec>> ReadServerSpecs(const config::Config& config);
// Also kNotFound, with the nearest name.
Result<ServerSpec> FindServerSpec(const config::Config& config, const std::string& name);

struct ToolResult {
  Json value;  // structuredContent, else the text
};

class ToolServer {
 public:
  // With kNone, nothing beyond this machine is reached.
  static Result<std::unique_ptr<ToolServer>> Connect(const ServerSpec& spec, Network network,
                                                     const CancelToken& cancel);
  virtual ~ToolServer() = default;  // ends the server and everything it started

  virtual Result<JsonArray> Tools(const CancelToken& cancel) = 0;
  // `tool` is one of Tools().
  virtual Result<ToolResult> Call(const Json& tool, const Json& arguments,
                                  const CancelToken& cancel) = 0;
};

// Returns true if the tool is marked as read-only or is named in the configuration.
bool MayUse(const ServerSpec& spec, const Json& tool);

// Trust in a list of tools: the hash of its bytes is kept with the list in `folder`.
//
//   DOSSIER_RETURN_IF_ERROR(CheckTrusted(state_folder, spec, tools));
//
// Errors: kRefused: nothing is trusted yet, or naming what was added, removed or changed since.
Status CheckTrusted(const std::string& folder, const ServerSpec& spec, const JsonArray& tools);
// Returns the trusted list, for what starts no server. Errors: kRefused: there is none.
Result<JsonArray> TrustedTools(const std::string& folder, const ServerSpec& spec);
Status Trust(const std::string& folder, const ServerSpec& spec, const JsonArray& tools);

}  // namespace dossier::mcp

#endif  // DOSSIER_SERVER_MCP_CLIENT_H_
