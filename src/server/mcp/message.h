// JSON-RPC 2.0 messages as the Model Context Protocol uses them, over any transport.
//
//   const RpcMessages read = ReadMessages(line);
//   for (const auto& message : read.list) {
//     if (!message) Send(ErrorText(message.error().id, message.error().error));
//   }
//   Send(ResultText(request.id, {{"tools", tools}}));
//
// Input is untrusted and checked here: depth is limited, ids are texts or whole numbers, params are
// objects. Output texts are one line without a line end. Thread-safety: pure functions.

#ifndef DOSSIER_SERVER_MCP_MESSAGE_H_
#define DOSSIER_SERVER_MCP_MESSAGE_H_

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/json/json.h"

namespace dossier::mcp {

// JSON-RPC's codes, then those of the protocol.
inline constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
                     kInvalidParams = -32602, kInternalError = -32603, kNoResource = -32002,
                     kHeaderMismatch = -32020, kMissingCapability = -32021,
                     kUnsupportedVersion = -32022;

struct RpcError {
  int code = kInternalError;
  std::string message;
  Json data = nullptr;
};
using RpcResult = tl::expected<JsonObject, RpcError>;
[[nodiscard]] tl::unexpected<RpcError> Fault(int code, std::string message, Json data = nullptr);

struct RpcMessage {
  enum class Kind : std::uint8_t { kRequest, kNotification, kResponse };
  Kind kind = Kind::kRequest;
  Json id;             // of a request or response: a text or a whole number
  std::string method;  // "" for a response
  JsonObject params;
};

// An invalid message: its error and the id for the answer (null if none was found).
struct RpcRefusal {
  Json id;
  RpcError error;
};

struct RpcMessages {
  enum class Form : std::uint8_t { kSingle, kBatch } form = Form::kSingle;
  std::vector<tl::expected<RpcMessage, RpcRefusal>> list;  // never empty
};
RpcMessages ReadMessages(std::string_view text);

std::string ResultText(const Json& id, JsonObject result);
std::string ErrorText(const Json& id, const RpcError& error);
std::string NotificationText(std::string_view method, JsonObject params);

}  // namespace dossier::mcp

#endif  // DOSSIER_SERVER_MCP_MESSAGE_H_
