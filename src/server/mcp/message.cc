#include "server/mcp/message.h"

#include "base/text/utf8.h"

namespace dossier::mcp {
namespace {

constexpr std::size_t kMostDepth = 128;
constexpr std::size_t kMostBatch = 1000;  // messages

bool IsId(const Json& value) { return value.is_string() || value.is_int64() || value.is_uint64(); }

tl::expected<RpcMessage, RpcRefusal> ReadOne(const Json& value) {
  const auto refuse = [&](Json id, std::string why) {
    return tl::unexpected(RpcRefusal{std::move(id), {kInvalidRequest, std::move(why)}});
  };
  if (!value.is_object()) return refuse(nullptr, "a message must be an object");
  const JsonObject& object = value.get_object();
  const Json* given = object.if_contains("id");
  if (given && !IsId(*given)) return refuse(nullptr, "/id must be a text or a whole number");
  const Json id = given ? *given : Json(nullptr);
  if (TextAt(value, "jsonrpc") != "2.0") return refuse(id, "/jsonrpc must be \"2.0\"");
  RpcMessage message{.id = id};
  const Json* method = object.if_contains("method");
  if (!method) {
    if (!given || (!object.contains("result") && !object.contains("error"))) {
      return refuse(id, "there is no /method");
    }
    message.kind = RpcMessage::Kind::kResponse;
    return message;
  }
  if (!method->is_string()) return refuse(id, "/method must be a text");
  message.method = method->get_string();
  if (!given) message.kind = RpcMessage::Kind::kNotification;
  if (const Json* params = object.if_contains("params")) {
    if (!params->is_object()) {
      return tl::unexpected(RpcRefusal{id, {kInvalidParams, "/params must be an object"}});
    }
    message.params = params->get_object();
  }
  return message;
}

}  // namespace

tl::unexpected<RpcError> Fault(int code, std::string message, Json data) {
  return tl::unexpected(RpcError{code, std::move(message), std::move(data)});
}

RpcMessages ReadMessages(std::string_view text) {
  RpcMessages out;
  const auto only = [&](int code, std::string why) {
    out.list.push_back(tl::unexpected(RpcRefusal{nullptr, {code, std::move(why)}}));
    return std::move(out);
  };
  if (!utf8::IsValid(text)) return only(kParseError, "the message is no UTF-8");
  const auto value = ParseJson(text, kMostDepth);
  if (!value) return only(kParseError, "the message is no JSON: " + value.error().message);
  if (!value->is_array()) {
    out.list.push_back(ReadOne(*value));
    return out;
  }
  out.form = RpcMessages::Form::kBatch;
  const JsonArray& list = value->get_array();
  if (list.empty() || list.size() > kMostBatch) {
    return only(kInvalidRequest, fmt::format("a batch holds 1 to {} messages", kMostBatch));
  }
  for (const Json& one : list) out.list.push_back(ReadOne(one));
  return out;
}

std::string ResultText(const Json& id, JsonObject result) {
  return ToJson(JsonObject{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

std::string ErrorText(const Json& id, const RpcError& error) {
  JsonObject object{{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null()) object["data"] = error.data;
  return ToJson(JsonObject{{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(object)}});
}

std::string NotificationText(std::string_view method, JsonObject params) {
  JsonObject object{{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.empty()) object["params"] = std::move(params);
  return ToJson(std::move(object));
}

}  // namespace dossier::mcp
