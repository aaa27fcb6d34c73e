// The Messages API of Anthropic (https://platform.claude.com/docs/en/api/messages).

#include "model/scripted/served_dialect.h"

namespace dossier::model {
namespace served_anthropic {
namespace {

// Thinking is returned only with a signature; clients hand it back as it is.
constexpr std::string_view kSignature = "c2lnbmVkIGJ5IHRoZSBzY3JpcHQ=";

std::optional<ServedRoute> Route(const HttpRequest& http, const Json& body) {
  if (http.target != "/v1/messages") return std::nullopt;
  return ServedRoute{.model = std::string(FindString(body, "model").value_or("scripted")),
                     .stream = FindBool(body, "stream") == true ? Streaming::kYes : Streaming::kNo};
}

std::string Fault(const HttpRequest& http, const Json& body) {
  if (http.Header("anthropic-version").empty()) return "anthropic-version: header is required";
  if (FindString(body, "model").value_or("").empty()) return "model: field required";
  if (FindInt(body, "max_tokens").value_or(0) < 1) return "max_tokens: field required";
  if (ArrayOf(body, "messages").empty()) return "messages: at least one message is required";
  return {};
}

// A tool's result stands in a user message; to a script it is a tool's.
void ReadMessage(const Json& message, Request& request) {
  std::string_view role = FindString(message, "role").value_or("user");
  const Json* content = Find(message, "content");
  std::string text = content ? TextOfContent(*content) : std::string();
  for (const Json& block : ArrayOf(message, "content")) {
    if (FindString(block, "type") != "tool_result") continue;
    role = "tool";
    if (const Json* result = Find(block, "content")) text = TextOfContent(*result) + text;
  }
  AddServedTurn(role, std::move(text), request);
}

Request Read(const Json& body) {
  Request request;
  if (const Json* system = Find(body, "system")) {
    AddServedTurn("system", TextOfContent(*system), request);
  }
  for (const Json& message : ArrayOf(body, "messages")) ReadMessage(message, request);
  return request;
}

std::string_view ReasonOf(Finish finish) {
  switch (finish) {
    case Finish::kLength:
      return "max_tokens";
    case Finish::kToolCalls:
      return "tool_use";
    case Finish::kFilter:
      return "refusal";
    case Finish::kOther:
      return "pause_turn";
    default:
      return "end_turn";
  }
}

// Cached and written tokens are counted beside input_tokens.
JsonObject OutputJson(const Usage& usage) {
  return {{"output_tokens", usage.output},
          {"output_tokens_details", JsonObject{{"thinking_tokens", usage.reasoning.value_or(0)}}}};
}

// `output`: what is told of it, as a stream begins with less than its end has.
JsonObject UsageJson(const Usage& usage, JsonObject output) {
  output["input_tokens"] = usage.input - usage.cached - usage.cache_write;
  output["cache_read_input_tokens"] = usage.cached;
  output["cache_creation_input_tokens"] = usage.cache_write;
  return output;
}

// The content blocks; `Fill::kNo` leaves out what a stream brings in deltas.
enum class Fill { kYes, kNo };
JsonArray BlocksOf(const Script::Answer& answer, Fill fill) {
  const auto filled = [fill](std::string_view text) {
    return fill == Fill::kYes ? text : std::string_view();
  };
  JsonArray blocks;
  if (!answer.thinking.empty()) {
    blocks.push_back(JsonObject{{"type", "thinking"},
                                {"thinking", filled(answer.thinking)},
                                {"signature", filled(kSignature)}});
  }
  if (!answer.text.empty()) {
    blocks.push_back(JsonObject{{"type", "text"}, {"text", filled(answer.text)}});
  }
  for (const ToolCall& call : answer.tool_calls) {
    blocks.push_back(
        JsonObject{{"type", "tool_use"},
                   {"id", call.id},
                   {"name", call.name},
                   {"input", fill == Fill::kYes ? call.arguments : Json(JsonObject())}});
  }
  return blocks;
}

JsonObject Message(const ServedReply& reply, JsonArray content, Json reason, JsonObject usage) {
  return {{"id", "msg_" + reply.id},       {"type", "message"},
          {"role", "assistant"},           {"model", reply.model},
          {"content", std::move(content)}, {"stop_reason", std::move(reason)},
          {"stop_sequence", nullptr},      {"usage", std::move(usage)}};
}

Json Whole(const ServedReply& reply) {
  return Message(reply, BlocksOf(reply.answer, Fill::kYes), Json(ReasonOf(reply.answer.finish)),
                 UsageJson(reply.usage, OutputJson(reply.usage)));
}

// Writes a stream; every event has its type as name and as field.
class EventWriter {
 public:
  void Add(std::string_view type, JsonObject fields) {
    fields["type"] = type;
    events_.push_back(EventText(fields, type));
  }
  void Delta(std::size_t index, std::string_view type, std::string_view field,
             std::string_view text) {
    for (const std::string_view piece : PiecesOf(text)) {
      Add("content_block_delta",
          {{"index", index}, {"delta", JsonObject{{"type", type}, {field, piece}}}});
    }
  }
  std::vector<std::string> Take() { return std::move(events_); }

 private:
  std::vector<std::string> events_;
};

void WriteBlock(std::size_t index, const Json& start, const Json& whole, EventWriter& writer) {
  writer.Add("content_block_start", {{"index", index}, {"content_block", start}});
  const auto field = [&](std::string_view name) { return FindString(whole, name).value_or(""); };
  const std::string_view type = field("type");
  if (type == "text") writer.Delta(index, "text_delta", "text", field("text"));
  if (type == "thinking") {
    writer.Delta(index, "thinking_delta", "thinking", field("thinking"));
    writer.Delta(index, "signature_delta", "signature", field("signature"));
  }
  if (type == "tool_use") {
    writer.Delta(index, "input_json_delta", "partial_json", ToJson(*Find(whole, "input")));
  }
}

std::vector<std::string> Events(const ServedReply& reply) {
  EventWriter writer;
  writer.Add(
      "message_start",
      {{"message", Message(reply, {}, nullptr, UsageJson(reply.usage, {{"output_tokens", 1}}))}});
  writer.Add("ping", {});
  const JsonArray starts = BlocksOf(reply.answer, Fill::kNo);
  const JsonArray blocks = BlocksOf(reply.answer, Fill::kYes);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    WriteBlock(i, starts[i], blocks[i], writer);
    const bool text = FindString(blocks[i], "type") == "text";
    if (reply.answer.cut_after && text) return writer.Take();
    writer.Add("content_block_stop", {{"index", i}});
  }
  if (reply.answer.cut_after) return writer.Take();
  writer.Add("message_delta", {{"delta", JsonObject{{"stop_reason", ReasonOf(reply.answer.finish)},
                                                    {"stop_sequence", nullptr}}},
                               {"usage", OutputJson(reply.usage)}});
  writer.Add("message_stop", {});
  return writer.Take();
}

Json ErrorJson(int status, std::string_view message) {
  constexpr StatusName kTypes[] = {{401, "authentication_error"}, {403, "permission_error"},
                                   {404, "not_found_error"},      {413, "request_too_large"},
                                   {429, "rate_limit_error"},     {529, "overloaded_error"}};
  const std::string_view type =
      NameOfStatus(kTypes, status, status < 500 ? "invalid_request_error" : "api_error");
  return JsonObject{{"type", "error"}, {"error", JsonObject{{"type", type}, {"message", message}}}};
}

}  // namespace
}  // namespace served_anthropic

const ServedDialect kServedAnthropic = {.name = "anthropic",
                                        .rules = kAnthropicRoles,
                                        .route = served_anthropic::Route,
                                        .fault = served_anthropic::Fault,
                                        .read = served_anthropic::Read,
                                        .whole = served_anthropic::Whole,
                                        .events = served_anthropic::Events,
                                        .error = served_anthropic::ErrorJson};

}  // namespace dossier::model
