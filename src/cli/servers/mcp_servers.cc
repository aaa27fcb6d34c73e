// `dossier mcp servers`: lists, trusts and calls third-party tool servers by hand.

#include "base/text/nearest.h"
#include "base/text/text.h"
#include "cli/commands.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/server_tools.h"
#include "server/mcp/client.h"

namespace dossier::cli {
namespace {

struct ServersArguments {
  std::string name, tool, arguments = "{}";
};

// A started server, and what it offers.
struct Opened {
  mcp::ServerSpec spec;
  std::unique_ptr<mcp::ToolServer> client;
  JsonArray tools;
  std::string state;
};

Result<Opened> Open(const ServersArguments& given, Context& context) {
  Opened out;
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(context.flags, {}, context.err));
  out.state = config.user.state;
  DOSSIER_ASSIGN_OR_RETURN(out.spec, mcp::FindServerSpec(config, given.name));
  const Network network = context.flags.offline ? Network::kNone : Network::kAny;
  DOSSIER_ASSIGN_OR_RETURN(out.client, mcp::ToolServer::Connect(out.spec, network, context.cancel));
  DOSSIER_ASSIGN_OR_RETURN(out.tools, out.client->Tools(context.cancel));
  return out;
}

Status RunList(const ServersArguments&, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(context.flags, {}, context.err));
  DOSSIER_ASSIGN_OR_RETURN(const auto specs, mcp::ReadServerSpecs(config));
  for (const mcp::ServerSpec& spec : specs) {
    context.out << fmt::format("{}  {}\n", spec.name,
                               spec.url.empty() ? Join(spec.argv, " ") : spec.url);
  }
  if (specs.empty()) context.err << "dossier: the configuration names no mcp_servers\n";
  return {};
}

Status RunShow(const ServersArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const Opened server, Open(given, context));
  for (const Json& tool : server.tools) {
    context.out << fmt::format("{}{}\n    {}\n", TextAt(tool, "name"),
                               mcp::MayUse(server.spec, tool) ? "" : "  (may not be used)",
                               ToolDescription(tool));
  }
  const Status trusted = mcp::CheckTrusted(server.state, server.spec, server.tools);
  context.out << (trusted ? "trusted\n" : trusted.error().message + "\n");
  return {};
}

Status RunTrust(const ServersArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const Opened server, Open(given, context));
  DOSSIER_RETURN_IF_ERROR(mcp::Trust(server.state, server.spec, server.tools));
  context.out << fmt::format("{} tools of {} are trusted as they are now\n", server.tools.size(),
                             given.name);
  return {};
}

Status RunCall(const ServersArguments& given, Context& context) {
  const auto arguments = ParseJson(given.arguments);
  if (!arguments || !arguments->is_object()) {
    return MakeError(ErrorCode::kUsage, "{}: the arguments of a tool are a JSON object",
                     given.arguments);
  }
  DOSSIER_ASSIGN_OR_RETURN(const Opened server, Open(given, context));
  DOSSIER_RETURN_IF_ERROR(mcp::CheckTrusted(server.state, server.spec, server.tools));
  std::vector<std::string> names;
  const Json* tool = nullptr;
  for (const Json& one : server.tools) {
    names.push_back(TextAt(one, "name"));
    if (names.back() == given.tool) tool = &one;
  }
  if (!tool) {
    return MakeError(ErrorCode::kNotFound, "{} has no tool {}; it must be {}", given.name,
                     given.tool, OneOf(given.tool, names));
  }
  DOSSIER_ASSIGN_OR_RETURN(const mcp::ToolResult result,
                           server.client->Call(*tool, *arguments, context.cancel));
  context.out << (result.value.is_string() ? std::string(result.value.get_string())
                                           : ToJson(result.value))
              << "\n";
  return {};
}

void DeclareNone(Flags&, ServersArguments&) {}
void DeclareServer(Flags& flags, ServersArguments& to) {
  flags.Add("name", &to.name, "its name in the configuration").Required().Kind(kName);
}
void DeclareCall(Flags& flags, ServersArguments& to) {
  DeclareServer(flags, to);
  flags.Add("tool", &to.tool, "the tool's name").Required().Kind(kName);
  flags.Add("arguments", &to.arguments, "a JSON object");
}

}  // namespace

Command McpServersCommand() {
  return {.name = "servers",
          .summary = "tool servers of others, as the configuration names them (mcp_servers)",
          .commands = {
              {.name = "list", .summary = "which there are", .binding = Bind(DeclareNone, RunList)},
              {.name = "show",
               .summary = "start one, and say what it offers",
               .binding = Bind(DeclareServer, RunShow)},
              {.name = "trust",
               .summary = "trust its tools as they are now",
               .binding = Bind(DeclareServer, RunTrust)},
              {.name = "call", .summary = "call a tool", .binding = Bind(DeclareCall, RunCall)}}};
}

}  // namespace dossier::cli
