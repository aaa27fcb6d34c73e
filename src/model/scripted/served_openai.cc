// Chat completions, as OpenAI and all who follow it serve them.

#include "model/scripted/served_dialect.h"

namespace dossier::model {
namespace served_openai {
namespace {

std::optional<ServedRoute> Route(const HttpRequest& http, const Json& body) {
  if (http.target != "/v1/chat/completions" && http.target != "/chat/completions") {
    return std::nullopt;
  }
  return ServedRoute{.model = std::string(FindString(body, "model").value_or("scripted")),
                     .stream = FindBool(body, "stream") == true ? Streaming::kYes : Streaming::kNo};
}

std::string Fault(const HttpRequest&, const Json& body) {
  const Json* messages = Find(body, "messages");
  return messages && messages->is_array() ? "" : "messages: a list is wanted";
}

Request Read(const Json& body) {
  Request request;
  request.sampling.first_tokens = static_cast<int>(FindInt(body, "top_logprobs").value_or(0));
  for (const Json& message : ArrayOf(body, "messages")) {
    const Json* content = Find(message, "content");
    AddServedTurn(FindString(message, "role").value_or("user"),
                  content ? TextOfContent(*content) : std::string(), request);
  }
  return request;
}

JsonObject Envelope(const ServedReply& reply, std::string_view object) {
  return {
      {"id", "chatcmpl-" + reply.id}, {"object", object}, {"created", 0}, {"model", reply.model}};
}

Json UsageJson(const Usage& usage) {
  return JsonObject{
      {"prompt_tokens", usage.input},
      {"completion_tokens", usage.output},
      {"total_tokens", usage.input + usage.output},
      {"prompt_tokens_details",
       JsonObject{{"cached_tokens", usage.cached}, {"cache_write_tokens", usage.cache_write}}},
      {"completion_tokens_details", JsonObject{{"reasoning_tokens", usage.reasoning.value_or(0)}}}};
}

JsonArray ToolCallsJson(const Script::Answer& answer) {
  JsonArray calls;
  for (const ToolCall& call : answer.tool_calls) {
    calls.push_back(JsonObject{
        {"index", calls.size()},
        {"id", call.id},
        {"type", "function"},
        {"function", JsonObject{{"name", call.name}, {"arguments", ToJson(call.arguments)}}}});
  }
  return calls;
}

// The member `logprobs` of a choice; null where the script gives none.
Json LogprobsJson(const Script::Answer& answer) {
  if (answer.first_tokens.empty()) return nullptr;
  JsonArray top;
  for (const TokenChance& chance : answer.first_tokens) {
    top.push_back(JsonObject{{"token", chance.token}, {"logprob", chance.logprob}});
  }
  JsonObject first{{"token", answer.first_tokens.front().token},
                   {"logprob", answer.first_tokens.front().logprob},
                   {"top_logprobs", std::move(top)}};
  return JsonObject{{"content", JsonArray{std::move(first)}}};
}

Json Whole(const ServedReply& reply) {
  JsonObject message{{"role", "assistant"}, {"content", reply.answer.text}};
  if (!reply.answer.thinking.empty()) message["reasoning_content"] = reply.answer.thinking;
  if (!reply.answer.tool_calls.empty()) message["tool_calls"] = ToolCallsJson(reply.answer);
  JsonObject value = Envelope(reply, "chat.completion");
  value["choices"] = JsonArray{JsonObject{{"index", 0},
                                          {"message", std::move(message)},
                                          {"logprobs", LogprobsJson(reply.answer)},
                                          {"finish_reason", FinishName(reply.answer.finish)}}};
  value["usage"] = UsageJson(reply.usage);
  return value;
}

std::string Event(const ServedReply& reply, JsonObject delta, Json finish,
                  Json logprobs = nullptr) {
  JsonObject value = Envelope(reply, "chat.completion.chunk");
  JsonObject choice{
      {"index", 0}, {"delta", std::move(delta)}, {"finish_reason", std::move(finish)}};
  if (!logprobs.is_null()) choice["logprobs"] = std::move(logprobs);
  value["choices"] = JsonArray{std::move(choice)};
  return EventText(value);
}

std::vector<std::string> Events(const ServedReply& reply) {
  const Script::Answer& answer = reply.answer;
  std::vector<std::string> events = {
      Event(reply, {{"role", "assistant"}, {"content", ""}}, nullptr)};
  for (const std::string_view piece : PiecesOf(answer.thinking)) {
    events.push_back(Event(reply, {{"reasoning_content", piece}}, nullptr));
  }
  Json logprobs = LogprobsJson(answer);  // with the first piece
  for (const std::string_view piece : PiecesOf(answer.text)) {
    events.push_back(Event(reply, {{"content", piece}}, nullptr, std::exchange(logprobs, nullptr)));
  }
  if (answer.cut_after) return events;
  if (!answer.tool_calls.empty()) {
    events.push_back(Event(reply, {{"tool_calls", ToolCallsJson(answer)}}, nullptr));
  }
  events.push_back(Event(reply, {}, Json(FinishName(answer.finish))));
  if (reply.usage_wanted) {
    JsonObject value = Envelope(reply, "chat.completion.chunk");
    value["choices"] = JsonArray();
    value["usage"] = UsageJson(reply.usage);
    events.push_back(EventText(value));
  }
  events.emplace_back("data: [DONE]\n\n");
  return events;
}

Json ErrorJson(int status, std::string_view message) {
  constexpr StatusName kCodes[] = {{401, "invalid_api_key"}, {429, "rate_limit_exceeded"}};
  const std::string_view code = NameOfStatus(kCodes, status, "");
  return JsonObject{
      {"error", JsonObject{{"message", message},
                           {"type", status < 500 ? "invalid_request_error" : "server_error"},
                           {"param", nullptr},
                           {"code", code.empty() ? Json() : Json(code)}}}};
}

}  // namespace
}  // namespace served_openai

const ServedDialect kServedOpenAi = {.name = "openai",
                                     .rules = kOpenAiRoles,
                                     .route = served_openai::Route,
                                     .fault = served_openai::Fault,
                                     .read = served_openai::Read,
                                     .whole = served_openai::Whole,
                                     .events = served_openai::Events,
                                     .error = served_openai::ErrorJson};

}  // namespace dossier::model
