// The offer of a Model Context Protocol server, independent of the transport.
//
//   class Clock final : public ServerOffer { JsonArray Tools() const override { … } … };
//   ClientConnection connection(clock, ticker, {});
//
// Objects are those of the protocol: a tool has name, description, inputSchema; the result of a
// call has content, structuredContent, isError. A failure of a tool is such a result, never an
// error; errors mean that the requested thing does not exist. Thread-safety: all methods from any
// thread, many at once.

#ifndef DOSSIER_SERVER_MCP_CATALOG_H_
#define DOSSIER_SERVER_MCP_CATALOG_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/json/json.h"
#include "server/mcp/message.h"
#include "server/operations.h"

namespace dossier::mcp {

// The context of one request. The functions may be empty.
struct CallContext {
  CancelToken cancel;
  server::ApiCaller caller;
  std::function<void(const server::Progress& progress)> progress;
  // "debug" to "emergency"; sent only if the client asked for that level.
  std::function<void(std::string_view level, Json data)> log;
  JsonObject capabilities;  // of the client, if its request has them
};

class ServerOffer {
 public:
  virtual ~ServerOffer() = default;

  virtual std::string Instructions() const { return ""; }
  virtual JsonArray Tools() const = 0;
  // Errors: kInvalidParams for an unknown tool.
  virtual RpcResult CallTool(std::string_view name, const Json& arguments,
                             const CallContext& call) = 0;

  virtual JsonArray Resources(const CallContext&) const { return {}; }
  virtual JsonArray ResourceTemplates() const { return {}; }
  // {"contents": [...]}. Errors: kNoResource in every era; the connection translates the code.
  virtual RpcResult ReadResource(std::string_view uri, const CallContext& call);

  virtual JsonArray Prompts() const { return {}; }
  // {"messages": [...]}. Errors: kInvalidParams for an unknown prompt or a wrong argument.
  virtual RpcResult GetPrompt(std::string_view name, const JsonObject& arguments);
  // Returns the values, beginning with `value`, for an argument of a prompt or a resource template.
  virtual std::vector<std::string> Complete(const JsonObject& ref, std::string_view argument,
                                            std::string_view value, const CallContext& call) const;

  // Calls `changed` with the URI of each resource that changes, from any thread, until Forget is
  // called with the returned id.
  using Changed = std::function<void(std::string_view uri)>;
  virtual std::uint64_t Watch(Changed changed);
  virtual void Forget(std::uint64_t watch);
};

}  // namespace dossier::mcp

#endif  // DOSSIER_SERVER_MCP_CATALOG_H_
