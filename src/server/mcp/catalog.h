// What a server of the Model Context Protocol offers, without a word of how it is carried.
//
//   class Clock final : public ServerOffer { JsonArray Tools() const override { … } … };
//   ClientConnection connection(clock, ticker, {});
//
// Objects are those of the protocol: a tool has name, description, inputSchema; the result of a
// call content, structuredContent, isError. A failure of a tool is such a result, never an error;
// errors are for what is not there.
// Thread-safety: all methods from any thread, many at once.

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

// One request, for whoever answers it. The functions may be empty.
struct CallContext {
  CancelToken cancel;
  server::ApiCaller caller;
  std::function<void(const server::Progress& progress)> progress;
  // "debug" to "emergency"; sent only where the client asked for that level.
  std::function<void(std::string_view level, Json data)> log;
  JsonObject capabilities;  // of the client, where its request says them
};

class ServerOffer {
 public:
  virtual ~ServerOffer() = default;

  virtual std::string Instructions() const { return ""; }
  virtual JsonArray Tools() const = 0;
  // Errors: kInvalidParams for a tool that is none.
  virtual RpcResult CallTool(std::string_view name, const Json& arguments,
                             const CallContext& call) = 0;

  virtual JsonArray Resources(const CallContext&) const { return {}; }
  virtual JsonArray ResourceTemplates() const { return {}; }
  // {"contents": [...]}. Errors: kNoResource, whatever the era: the connection knows its code.
  virtual RpcResult ReadResource(std::string_view uri, const CallContext& call);

  virtual JsonArray Prompts() const { return {}; }
  // {"messages": [...]}. Errors: kInvalidParams for a prompt or an argument that is none.
  virtual RpcResult GetPrompt(std::string_view name, const JsonObject& arguments);
  // Values of an argument of a prompt or a resource template that begin with `value`.
  virtual std::vector<std::string> Complete(const JsonObject& ref, std::string_view argument,
                                            std::string_view value, const CallContext& call) const;

  // `changed` is called with the address of a resource whenever that changed, from any thread,
  // until the id is forgotten.
  using Changed = std::function<void(std::string_view uri)>;
  virtual std::uint64_t Watch(Changed changed);
  virtual void Forget(std::uint64_t watch);
};

}  // namespace dossier::mcp

#endif  // DOSSIER_SERVER_MCP_CATALOG_H_
