// A tool server of somebody else, started in the jail and spoken with over its pipes.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto client, ToolServer::Connect(spec, cancel));
//   DOSSIER_ASSIGN_OR_RETURN(const JsonArray tools, client->Tools(cancel));
//   DOSSIER_ASSIGN_OR_RETURN(const ToolResult result, client->Call(tools[0], {{"item", "A1"}},
//   cancel));
//
// The era is found out by server/discover; whoever does not know it gets initialize. The server is
// hostile: its lines, its time and its sizes are limited, its own requests are refused with -32601.
// Errors: kUnavailable (no jail), kNotFound (the program), kTimeout, kTooLong, kProtocol (it speaks
// otherwise), kDied, kInvalidArgument (arguments that its schema refuses, before anything is sent),
// kRefused (a tool that may not be used), kFailed (the tool says that it failed), kCancelled.
// Thread-safety: all methods from any thread, many calls at once.

#ifndef DOSSIER_SERVER_MCP_CLIENT_H_
#define DOSSIER_SERVER_MCP_CLIENT_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "config/config.h"

namespace dossier::mcp {

// One entry of `mcp_servers` in the configuration.
struct ServerSpec {
  std::string name;
  std::vector<std::string> argv;
  std::vector<std::string> env;    // names of our variables that it gets
  std::vector<std::string> tools;  // that may be used though they do not say that they only read
  std::vector<std::string> read;   // folders that it may read
  Millis timeout{30'000};          // of one answer
  bool network = false;
};

// Errors: kConfig with FILE:LINE:COL.
Result<std::vector<ServerSpec>> ReadServerSpecs(const config::Config& config);

struct ToolResult {
  Json value;  // structuredContent, else the text
};

class ToolServer {
 public:
  static Result<std::unique_ptr<ToolServer>> Connect(const ServerSpec& spec,
                                                     const CancelToken& cancel);
  virtual ~ToolServer() = default;  // ends the server and all that it started

  virtual Result<JsonArray> Tools(const CancelToken& cancel) = 0;
  // `tool` is one of Tools().
  virtual Result<ToolResult> Call(const Json& tool, const Json& arguments,
                                  const CancelToken& cancel) = 0;
};

// Whether a tool says that it only reads, or is named in the configuration.
bool MayUse(const ServerSpec& spec, const Json& tool);

// What a list of tools is trusted by: the hash of its bytes, kept with the list in `folder`.
//
//   DOSSIER_RETURN_IF_ERROR(CheckTrusted(state_folder, spec, tools));
//
// Errors: kRefused, saying what was added, removed or changed since it was trusted.
Status CheckTrusted(const std::string& folder, const ServerSpec& spec, const JsonArray& tools);
Status Trust(const std::string& folder, const ServerSpec& spec, const JsonArray& tools);

}  // namespace dossier::mcp

#endif  // DOSSIER_SERVER_MCP_CLIENT_H_
