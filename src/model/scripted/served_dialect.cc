#include "model/scripted/served_dialect.h"

#include <algorithm>
#include <array>

#include "base/text/utf8.h"

namespace dossier::model {
namespace {

constexpr std::size_t kPieceBytes = 16;

}  // namespace

std::span<const ServedDialect> ServedDialects() {
  static const std::array<ServedDialect, 3> kAll = {kServedOpenAi, kServedAnthropic, kServedGemini};
  return kAll;
}

std::vector<std::string_view> PiecesOf(std::string_view text) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    std::size_t size = text.size();
    if (size > kPieceBytes) size = std::max<std::size_t>(1, utf8::FloorBoundary(text, kPieceBytes));
    pieces.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return pieces;
}

std::string EventText(const Json& data, std::string_view name) {
  return (name.empty() ? std::string() : fmt::format("event: {}\n", name)) +
         "data: " + ToJson(data) + "\n\n";
}

void AddServedTurn(std::string_view role, std::string text, Request& request) {
  using assembly::Role;
  assembly::Block block{.text = std::move(text)};
  if (role == "system" || role == "developer") {
    request.messages.system.push_back(std::move(block));
    return;
  }
  request.turn += role == "assistant";
  const Role kind = role == "assistant" ? Role::kAssistant
                    : role == "tool"    ? Role::kTool
                                        : Role::kUser;
  request.messages.turns.push_back({kind, {std::move(block)}});
}

std::string TextOfContent(const Json& content) {
  if (const auto* text = content.if_string()) return std::string(*text);
  std::string joined;
  if (const auto* blocks = content.if_array()) {
    for (const Json& block : *blocks) joined += FindString(block, "text").value_or("");
  }
  return joined;
}

std::string_view NameOfStatus(std::span<const StatusName> table, int status,
                              std::string_view otherwise) {
  const auto row = std::find_if(table.begin(), table.end(),
                                [status](const StatusName& one) { return one.status == status; });
  return row == table.end() ? otherwise : row->name;
}

const JsonArray& ArrayOf(const Json& object, std::string_view name) {
  static const JsonArray kNone;
  const Json* list = Find(object, name);
  return list && list->is_array() ? list->as_array() : kNone;
}

namespace served_openai {
// Chat completions, as served by OpenAI and compatible providers.
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

// Returns the member `logprobs` of a choice; null if the script has none.
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

// A refusal has words of its own here, beside a reply that ends as any other.
std::string_view ReasonOf(Finish finish) {
  if (finish == Finish::kFilter) return "content_filter";
  return finish == Finish::kRefused ? FinishName(Finish::kStop) : FinishName(finish);
}
std::string_view TextName(const Script::Answer& answer) {
  return answer.finish == Finish::kRefused ? "refusal" : "content";
}

Json Whole(const ServedReply& reply) {
  JsonObject message{{"role", "assistant"}, {TextName(reply.answer), reply.answer.text}};
  if (!reply.answer.thinking.empty()) message["reasoning_content"] = reply.answer.thinking;
  if (!reply.answer.tool_calls.empty()) message["tool_calls"] = ToolCallsJson(reply.answer);
  JsonObject value = Envelope(reply, "chat.completion");
  value["choices"] = JsonArray{JsonObject{{"index", 0},
                                          {"message", std::move(message)},
                                          {"logprobs", LogprobsJson(reply.answer)},
                                          {"finish_reason", ReasonOf(reply.answer.finish)}}};
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
  Json logprobs = LogprobsJson(answer);  // sent with the first piece
  for (const std::string_view piece : PiecesOf(answer.text)) {
    events.push_back(
        Event(reply, {{TextName(answer), piece}}, nullptr, std::exchange(logprobs, nullptr)));
  }
  if (answer.cut_after) return events;
  if (!answer.tool_calls.empty()) {
    events.push_back(Event(reply, {{"tool_calls", ToolCallsJson(answer)}}, nullptr));
  }
  events.push_back(Event(reply, {}, Json(ReasonOf(answer.finish))));
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

namespace served_anthropic {
// The Messages API of Anthropic (https://platform.claude.com/docs/en/api/messages).
namespace {

// Thinking is only returned with a signature; clients send it back unchanged.
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

// A tool's result is in a user message; for a script it becomes a tool message.
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
    case Finish::kRefused:
      return "refusal";
    case Finish::kOther:
      return "pause_turn";
    default:
      return "end_turn";
  }
}

// Cached and written tokens are not part of input_tokens.
JsonObject OutputJson(const Usage& usage) {
  return {{"output_tokens", usage.output},
          {"output_tokens_details", JsonObject{{"thinking_tokens", usage.reasoning.value_or(0)}}}};
}

// `output`: the reported output; a stream reports less at its start than at its end.
JsonObject UsageJson(const Usage& usage, JsonObject output) {
  output["input_tokens"] = usage.input - usage.cached - usage.cache_write;
  output["cache_read_input_tokens"] = usage.cached;
  output["cache_creation_input_tokens"] = usage.cache_write;
  return output;
}

// The content blocks; `Fill::kNo` leaves out what a stream sends as deltas.
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

// Writes a stream; every event has its type as its name and in a field.
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

namespace served_gemini {
// generateContent of the Gemini API (https://ai.google.dev/api/generate-content).
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

// Tool calls end with STOP, like any reply.
std::string_view ReasonOf(Finish finish) {
  switch (finish) {
    case Finish::kLength:
      return "MAX_TOKENS";
    case Finish::kFilter:
    case Finish::kRefused:
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
    // Of several parallel calls only the first is signed.
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
