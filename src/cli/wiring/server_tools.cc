#include "cli/wiring/server_tools.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "server/mcp/client.h"

namespace dossier::cli {
namespace {

constexpr std::size_t kShownDescription = 500;  // characters

// Names of other servers may hold what no name of a function does.
std::string NameInCode(const std::string& server, const std::string& tool) {
  std::string name = server + "_" + tool;
  std::ranges::replace_if(name, [](char c) { return !IsWordByte(c); }, '_');
  return name;
}

Result<ExactJson> CallServer(mcp::ToolServer* server, const Json& tool, const JsonObject& arguments,
                             const CancelToken& cancel) {
  if (!server) return MakeError(ErrorCode::kUnavailable, "no tool server is started here");
  auto called = server->Call(tool, Json(arguments), cancel);
  if (called) return ExactJson(std::move(called->value));
  if (called.error().code == ErrorCode::kCancelled) return tl::unexpected(called.error());
  return MakeError(ErrorCode::kFailed, "ToolError: {}", called.error().message);
}

// `server`: null if it is only looked at.
Result<std::vector<ask::Tool>> ToolsOf(const mcp::ServerSpec& spec, const JsonArray& list,
                                       const std::shared_ptr<mcp::ToolServer>& server,
                                       const std::function<void(std::string_view)>& say) {
  std::vector<ask::Tool> tools;
  for (const Json& tool : list) {
    if (!mcp::MayUse(spec, tool)) continue;
    const std::string name = TextAt(tool, "name");
    const Json* schema = Find(tool, "inputSchema");
    auto compiled = model::JsonSchema::Compile(schema ? *schema : Json(JsonObject()));
    if (!compiled) {
      say(fmt::format("warning: {}: {} is left out: it has no schema that can be read: {}",
                      spec.name, name, compiled.error().message));
      continue;
    }
    tools.push_back({.name = NameInCode(spec.name, name),
                     .description = ToolDescription(tool),
                     .server = spec.name,
                     .parameters = std::move(*compiled),
                     .run = [server, tool](const JsonObject& arguments, const CancelToken& cancel) {
                       return CallServer(server.get(), tool, arguments, cancel);
                     }});
  }
  if (!tools.empty()) return tools;
  return MakeError(ErrorCode::kConfig,
                   "--mcp {}: none of its tools says that it only reads; name those that may be "
                   "called in mcp_servers.{}.tools",
                   spec.name, spec.name);
}

}  // namespace

void AddServersFlag(Flags flags, std::vector<std::string>* to) {
  constexpr static ValueKind kServers{"NAME[,NAME]"};
  flags
      .Add("--mcp", to,
           "tool servers of the configuration (mcp_servers) whose tools it may call (repeat)")
      .Kind(kServers);
}

std::string ToolDescription(const Json& tool) {
  std::string text = utf8::Sanitize(TextAt(tool, "description"));
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return std::string(utf8::Prefix(TrimSpace(text), kShownDescription));
}

Result<std::vector<ask::Tool>> ServerTools(const WantedServers& wanted,
                                           const config::Config& config,
                                           const CancelToken& cancel) {
  std::vector<ask::Tool> tools;
  for (const std::string& names : wanted.names) {
    for (const std::string_view piece : Split(names, ',')) {
      DOSSIER_ASSIGN_OR_RETURN(const mcp::ServerSpec spec,
                               mcp::FindServerSpec(config, std::string(TrimSpace(piece))));
      DOSSIER_ASSIGN_OR_RETURN(JsonArray list, mcp::TrustedTools(config.user.state, spec));
      std::shared_ptr<mcp::ToolServer> server;
      if (wanted.use == ServerUse::kCalled) {
        DOSSIER_ASSIGN_OR_RETURN(server, mcp::ToolServer::Connect(spec, wanted.network, cancel));
        DOSSIER_ASSIGN_OR_RETURN(list, server->Tools(cancel));
        DOSSIER_RETURN_IF_ERROR(mcp::CheckTrusted(config.user.state, spec, list));
      }
      DOSSIER_ASSIGN_OR_RETURN(auto more, ToolsOf(spec, list, server, wanted.say));
      std::ranges::move(more, std::back_inserter(tools));
    }
  }
  return tools;
}

}  // namespace dossier::cli
