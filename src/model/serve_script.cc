#include "model/serve_script.h"

#include <fcntl.h>

#include "base/file.h"
#include "base/utf8.h"
#include "model/timer.h"

namespace dossier::model {
namespace {

using assembly::Block;
using assembly::Role;

constexpr std::size_t kChunkBytes = 16;  // of streamed text: small, so that clients see many

std::string ContentText(const Json& message) {
  if (const auto text = FindString(message, "content")) return std::string(*text);
  std::string joined;
  const Json* parts = Find(message, "content");
  if (parts && parts->is_array()) {
    for (const Json& part : parts->as_array()) joined += FindString(part, "text").value_or("");
  }
  return joined;
}

// What a script looks at: the messages, and as turn the number of replies before.
Request ReadRequest(const Json& body) {
  Request request;
  request.model = FindString(body, "model").value_or("");
  const Json* messages = Find(body, "messages");
  if (!messages || !messages->is_array()) return request;
  for (const Json& message : messages->as_array()) {
    const std::string_view role = FindString(message, "role").value_or("user");
    Block block{.text = ContentText(message)};
    if (role == "system" || role == "developer") {
      request.messages.system.push_back(std::move(block));
      continue;
    }
    request.turn += role == "assistant";
    const Role kind = role == "assistant" ? Role::kAssistant
                      : role == "tool"    ? Role::kTool
                                          : Role::kUser;
    request.messages.turns.push_back({kind, {std::move(block)}});
  }
  return request;
}

Usage UsageOf(const Request& request, const Script::Answer& answer) {
  if (answer.usage) return *answer.usage;
  std::size_t bytes = request.messages.SystemText().size();
  for (const auto& turn : request.messages.turns) bytes += turn.Text().size();
  return {.input = static_cast<std::int64_t>((bytes + 3) / 4),
          .output = static_cast<std::int64_t>((answer.text.size() + 3) / 4)};
}

Json UsageJson(const Usage& usage) {
  return JsonObject{{"prompt_tokens", usage.input},
                    {"completion_tokens", usage.output},
                    {"total_tokens", usage.input + usage.output},
                    {"prompt_tokens_details", JsonObject{{"cached_tokens", usage.cached}}}};
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

HttpResponse ErrorResponse(int status, std::string_view message) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}},
          .body = ToJson(JsonObject{
              {"error", JsonObject{{"message", message}, {"type", "script"}, {"code", status}}}})};
}

// One answer on its way to one client.
class Delivery {
 public:
  Delivery(std::shared_ptr<HttpExchange> exchange, Json body, std::uint64_t number)
      : exchange_(std::move(exchange)),
        body_(std::move(body)),
        request_(ReadRequest(body_)),
        id_(fmt::format("chatcmpl-{}", number)) {}

  const Request& request() const { return request_; }

  void Send(Script::Answer answer) {
    if (answer.fail_status != 0) return SendFailure(answer);
    if (answer.cut_after == 0) return exchange_->Abort();
    if (FindBool(body_, "stream") == true) {
      SendStream(answer);
    } else {
      SendWhole(answer);
    }
  }
  void Refuse(std::string_view reason) { exchange_->Reply(ErrorResponse(400, reason)); }

 private:
  void SendFailure(const Script::Answer& answer) {
    HttpResponse response = ErrorResponse(answer.fail_status, "scripted failure");
    if (!answer.fail_body.empty()) response.body = answer.fail_body;
    for (const auto& header : answer.fail_headers) response.headers.push_back(header);
    exchange_->Reply(std::move(response));
  }

  JsonObject Envelope(std::string_view object) const {
    return {{"id", id_}, {"object", object}, {"created", 0}, {"model", ModelName()}};
  }
  std::string ModelName() const { return request_.model.empty() ? "scripted" : request_.model; }

  void SendWhole(const Script::Answer& answer) {
    JsonObject message{{"role", "assistant"}, {"content", answer.text}};
    if (!answer.tool_calls.empty()) message["tool_calls"] = ToolCallsJson(answer);
    JsonObject value = Envelope("chat.completion");
    value["choices"] = JsonArray{JsonObject{{"index", 0},
                                            {"message", std::move(message)},
                                            {"finish_reason", FinishName(answer.finish)}}};
    value["usage"] = UsageJson(UsageOf(request_, answer));
    const std::string text = ToJson(value);
    if (!answer.cut_after) {
      exchange_->Reply({.headers = {{"Content-Type", "application/json"}}, .body = text});
      return;
    }
    exchange_->SendHead(200, {{"Content-Type", "application/json"}});
    (void)exchange_->SendChunk(std::string_view(text).substr(0, *answer.cut_after)).has_value();
    exchange_->Abort();
  }

  bool SendEvent(JsonObject delta, Json finish) {
    JsonObject value = Envelope("chat.completion.chunk");
    value["choices"] = JsonArray{JsonObject{
        {"index", 0}, {"delta", std::move(delta)}, {"finish_reason", std::move(finish)}}};
    return exchange_->SendChunk("data: " + ToJson(value) + "\n\n").has_value();
  }

  void SendStream(const Script::Answer& answer) {
    exchange_->SendHead(200, {{"Content-Type", "text/event-stream"}});
    std::string_view text = answer.text;
    if (answer.cut_after) text = text.substr(0, utf8::FloorBoundary(text, *answer.cut_after));
    SendEvent({{"role", "assistant"}, {"content", ""}}, nullptr);
    while (!text.empty()) {
      std::size_t size = text.size();
      if (size > kChunkBytes) size = std::max<std::size_t>(1, utf8::FloorBoundary(text, kChunkBytes));
      if (!SendEvent({{"content", text.substr(0, size)}}, nullptr)) return exchange_->Abort();
      text.remove_prefix(size);
    }
    if (answer.cut_after) return exchange_->Abort();
    if (!answer.tool_calls.empty()) SendEvent({{"tool_calls", ToolCallsJson(answer)}}, nullptr);
    SendEvent({}, Json(FinishName(answer.finish)));
    SendUsage(answer);
    (void)exchange_->SendChunk("data: [DONE]\n\n").has_value();
    exchange_->Finish();
  }

  void SendUsage(const Script::Answer& answer) {
    const Json* options = Find(body_, "stream_options");
    if (!options || FindBool(*options, "include_usage") != true) return;
    JsonObject value = Envelope("chat.completion.chunk");
    value["choices"] = JsonArray();
    value["usage"] = UsageJson(UsageOf(request_, answer));
    (void)exchange_->SendChunk("data: " + ToJson(value) + "\n\n").has_value();
  }

  const std::shared_ptr<HttpExchange> exchange_;
  const Json body_;
  const Request request_;
  const std::string id_;
};

class ScriptServer {
 public:
  ScriptServer(std::shared_ptr<Script> script, UniqueFd record)
      : script_(std::move(script)),
        record_(std::move(record)),
        timer_(MakeThreadTimer(SystemClock())) {}

  void Handle(std::shared_ptr<HttpExchange> exchange) {
    const HttpRequest& http = exchange->request();
    auto body = ParseJson(http.body);
    Record(http, body ? *body : Json(http.body));
    const bool completion =
        http.target == "/v1/chat/completions" || http.target == "/chat/completions";
    if (http.method == "GET" && (http.target == "/v1/models" || http.target == "/models")) {
      return SendModels(*exchange);
    }
    if (http.method != "POST" || !completion) {
      return exchange->Reply(ErrorResponse(404, "no such address: " + http.target));
    }
    if (!body) return exchange->Reply(ErrorResponse(400, body.error().message));
    auto delivery = std::make_shared<Delivery>(std::move(exchange), std::move(*body), ++number_);
    auto answer = script_->Next(delivery->request());
    if (!answer) return delivery->Refuse(answer.error().message);
    if (answer->delay.count() == 0) return delivery->Send(std::move(*answer));
    timer_->At(std::chrono::steady_clock::now() + answer->delay,
               [delivery, answer = std::move(*answer)] { delivery->Send(answer); });
  }

 private:
  static void SendModels(HttpExchange& exchange) {
    const Json list = JsonObject{
        {"object", "list"},
        {"data", JsonArray{JsonObject{
                     {"id", "scripted"}, {"object", "model"}, {"owned_by", "dossier"}}}}};
    exchange.Reply({.headers = {{"Content-Type", "application/json"}}, .body = ToJson(list)});
  }

  void Record(const HttpRequest& http, Json body) {
    if (!record_.valid()) return;
    const Json line = JsonObject{{"method", http.method},
                                 {"target", http.target},
                                 {"authorized", !http.Header("authorization").empty()},
                                 {"body", std::move(body)}};
    std::lock_guard lock(mutex_);
    (void)WriteAll(record_.get(), ToJson(line) + "\n").has_value();
  }

  const std::shared_ptr<Script> script_;
  const UniqueFd record_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> number_{0};
  const std::shared_ptr<Timer> timer_;
};

}  // namespace

Result<std::unique_ptr<HttpListener>> ServeScript(std::shared_ptr<Script> script,
                                                  ServeScriptOptions options) {
  UniqueFd record;
  if (!options.record_path.empty()) {
    record = UniqueFd(
        open(options.record_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!record.valid()) return MakeErrnoError(errno, options.record_path);
  }
  auto server = std::make_shared<ScriptServer>(std::move(script), std::move(record));
  return HttpListener::Start({.port = options.port}, [server](auto exchange) {
    server->Handle(std::move(exchange));
  });
}

}  // namespace dossier::model
