// generateContent of the Gemini API (https://ai.google.dev/api/generate-content).

#include "model/scripted/served_dialect.h"

namespace dossier::model {
namespace served_gemini {
namespace {

constexpr std::string_view kSignature = "c2lnbmVkIGJ5IHRoZSBzY3JpcHQ=";

// "/v1beta/models/NAME:METHOD".
std::optional<ServedRoute> Route(const HttpRequest& http, const Json&) {
  std::string_view target = http.target;
  constexpr std::string_view kModels = "/models/";
  if (!target.starts_with("/v1beta/") && !target.starts_with("/v1/")) return std::nullopt;
  target.remove_prefix(target.find('/', 1));
  if (!target.starts_with(kModels)) return std::nullopt;
  target.remove_prefix(kModels.size());
  const std::size_t colon = target.find(':');
  if (colon == target.npos) return std::nullopt;
  const std::string_view method = target.substr(colon + 1);
  ServedRoute route{.model = std::string(target.substr(0, colon))};
  if (method == "generateContent") return route;
  if (method != "streamGenerateContent?alt=sse") return std::nullopt;
  route.stream = Streaming::kYes;
  return route;
}

std::string Fault(const HttpRequest&, const Json& body) {
  return ArrayOf(body, "contents").empty() ? "contents is not specified" : "";
}

std::string TextOfParts(const Json& content) {
  std::string text;
  for (const Json& part : ArrayOf(content, "parts")) {
    text += FindString(part, "text").value_or("");
    const Json* result = Find(part, "functionResponse");
    const Json* response = result ? Find(*result, "response") : nullptr;
    if (response) text += ToJson(*response);
  }
  return text;
}

Request Read(const Json& body) {
  Request request;
  if (const Json* system = Find(body, "systemInstruction")) {
    AddServedTurn("system", TextOfParts(*system), request);
  }
  for (const Json& content : ArrayOf(body, "contents")) {
    std::string_view role = FindString(content, "role").value_or("user");
    if (role == "model") role = "assistant";
    for (const Json& part : ArrayOf(content, "parts")) {
      if (Find(part, "functionResponse")) role = "tool";
    }
    AddServedTurn(role, TextOfParts(content), request);
  }
  return request;
}

// Tool calls end with STOP like any reply.
std::string_view ReasonOf(Finish finish) {
  switch (finish) {
    case Finish::kLength:
      return "MAX_TOKENS";
    case Finish::kFilter:
      return "SAFETY";
    case Finish::kOther:
      return "OTHER";
    default:
      return "STOP";
  }
}

Json UsageJson(const Usage& usage) {
  const std::int64_t thoughts = usage.reasoning.value_or(0);
  JsonObject out{{"promptTokenCount", usage.input},
                 {"cachedContentTokenCount", usage.cached},
                 {"candidatesTokenCount", usage.output - thoughts},
                 {"totalTokenCount", usage.input + usage.output}};
  if (thoughts > 0) out["thoughtsTokenCount"] = thoughts;
  return out;
}

JsonObject Thought(std::string_view text) { return {{"text", text}, {"thought", true}}; }

JsonArray CallParts(const Script::Answer& answer) {
  JsonArray parts;
  for (const ToolCall& call : answer.tool_calls) {
    JsonObject part{{"functionCall", JsonObject{{"name", call.name}, {"args", call.arguments}}}};
    // Of several calls at once only the first is signed.
    if (!answer.thinking.empty() && parts.empty()) part["thoughtSignature"] = kSignature;
    parts.push_back(std::move(part));
  }
  return parts;
}

Json Response(const ServedReply& reply, JsonArray parts, Json reason) {
  JsonObject candidate{{"index", 0},
                       {"content", JsonObject{{"role", "model"}, {"parts", std::move(parts)}}}};
  const bool last = !reason.is_null();
  if (last) candidate["finishReason"] = std::move(reason);
  JsonObject value{{"candidates", JsonArray{std::move(candidate)}},
                   {"modelVersion", reply.model},
                   {"responseId", reply.id}};
  if (last) value["usageMetadata"] = UsageJson(reply.usage);
  return value;
}

Json Whole(const ServedReply& reply) {
  JsonArray parts;
  if (!reply.answer.thinking.empty()) parts.push_back(Thought(reply.answer.thinking));
  if (!reply.answer.text.empty()) parts.push_back(JsonObject{{"text", reply.answer.text}});
  for (Json& call : CallParts(reply.answer)) parts.push_back(std::move(call));
  return Response(reply, std::move(parts), Json(ReasonOf(reply.answer.finish)));
}

std::vector<std::string> Events(const ServedReply& reply) {
  const Script::Answer& answer = reply.answer;
  std::vector<std::string> events;
  const auto add = [&](JsonArray parts, Json reason) {
    events.push_back(EventText(Response(reply, std::move(parts), std::move(reason))));
  };
  for (const std::string_view piece : PiecesOf(answer.thinking)) {
    add(JsonArray{Thought(piece)}, nullptr);
  }
  for (const std::string_view piece : PiecesOf(answer.text)) {
    add(JsonArray{JsonObject{{"text", piece}}}, nullptr);
  }
  if (answer.cut_after) return events;
  add(CallParts(answer), Json(ReasonOf(answer.finish)));
  return events;
}

Json ErrorJson(int status, std::string_view message) {
  constexpr StatusName kNames[] = {{401, "UNAUTHENTICATED"}, {403, "PERMISSION_DENIED"},
                                   {404, "NOT_FOUND"},       {429, "RESOURCE_EXHAUSTED"},
                                   {503, "UNAVAILABLE"},     {504, "DEADLINE_EXCEEDED"}};
  const std::string_view name =
      NameOfStatus(kNames, status, status < 500 ? "INVALID_ARGUMENT" : "INTERNAL");
  return JsonObject{
      {"error", JsonObject{{"code", status}, {"message", message}, {"status", name}}}};
}

}  // namespace
}  // namespace served_gemini

const ServedDialect kServedGemini = {.name = "gemini",
                                     .rules = kGeminiRoles,
                                     .route = served_gemini::Route,
                                     .fault = served_gemini::Fault,
                                     .read = served_gemini::Read,
                                     .whole = served_gemini::Whole,
                                     .events = served_gemini::Events,
                                     .error = served_gemini::ErrorJson};

}  // namespace dossier::model
