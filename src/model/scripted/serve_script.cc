#include "model/scripted/serve_script.h"

#include <fcntl.h>

#include "base/files/file.h"
#include "base/text/utf8.h"
#include "model/client/timer.h"
#include "model/scripted/served_dialect.h"

namespace dossier::model {
namespace {

Usage UsageOf(const Request& request, const Script::Answer& answer) {
  if (answer.usage) return *answer.usage;
  std::size_t bytes = request.messages.SystemText().size();
  for (const auto& turn : request.messages.turns) bytes += turn.Text().size();
  return {.input = static_cast<std::int64_t>((bytes + 3) / 4),
          .output = static_cast<std::int64_t>((answer.text.size() + 3) / 4)};
}

HttpResponse JsonResponse(int status, const Json& body) {
  return {
      .status = status, .headers = {{"Content-Type", "application/json"}}, .body = ToJson(body)};
}

// Delivers one answer to one client.
class Delivery {
 public:
  Delivery(std::shared_ptr<HttpExchange> exchange, const ServedDialect& dialect,
           const ServedRoute& route, const Json& body, std::uint64_t number)
      : exchange_(std::move(exchange)),
        dialect_(dialect),
        stream_(route.stream),
        request_(dialect.read(body)) {
    reply_.id = std::to_string(number);
    reply_.model = route.model;
    if (const Json* options = Find(body, "stream_options")) {
      reply_.usage_wanted = FindBool(*options, "include_usage") == true;
    } else {
      reply_.usage_wanted = false;
    }
  }

  const Request& request() const { return request_; }

  void Send(Script::Answer answer) {
    if (answer.fail_status != 0) return SendFailure(answer);
    if (answer.cut_after == 0) return exchange_->Abort();
    reply_.usage = UsageOf(request_, answer);
    if (request_.sampling.first_tokens == 0) answer.first_tokens.clear();
    reply_.answer = std::move(answer);
    stream_ == Streaming::kYes ? SendStream() : SendWhole();
  }
  void Refuse(std::string_view reason) {
    exchange_->Reply(JsonResponse(400, dialect_.error(400, reason)));
  }

 private:
  void SendFailure(const Script::Answer& answer) {
    HttpResponse response =
        JsonResponse(answer.fail_status, dialect_.error(answer.fail_status, "scripted failure"));
    if (!answer.fail_body.empty()) response.body = answer.fail_body;
    for (const auto& header : answer.fail_headers) response.headers.push_back(header);
    exchange_->Reply(std::move(response));
  }

  void SendWhole() {
    const Json value = dialect_.whole(reply_);
    if (!reply_.answer.cut_after) return exchange_->Reply(JsonResponse(200, value));
    const std::string text = ToJson(value);
    exchange_->SendHead(200, {{"Content-Type", "application/json"}});
    (void)exchange_->SendChunk(std::string_view(text).substr(0, *reply_.answer.cut_after))
        .has_value();
    exchange_->Abort();
  }

  void SendStream() {
    Script::Answer& answer = reply_.answer;
    if (answer.cut_after) {
      answer.text.resize(utf8::FloorBoundary(answer.text, *answer.cut_after));
    }
    exchange_->SendHead(200, {{"Content-Type", "text/event-stream"}});
    for (const std::string& event : dialect_.events(reply_)) {
      if (!exchange_->SendChunk(event)) return exchange_->Abort();
    }
    answer.cut_after ? exchange_->Abort() : exchange_->Finish();
  }

  const std::shared_ptr<HttpExchange> exchange_;
  const ServedDialect& dialect_;
  const Streaming stream_;
  const Request request_;
  ServedReply reply_;
};

class ScriptServer {
 public:
  ScriptServer(std::shared_ptr<Script> script, std::optional<RoleRules> rules, UniqueFd record,
               std::shared_ptr<TimerLink> timer)
      : script_(std::move(script)),
        rules_(rules),
        record_(std::move(record)),
        timer_(std::move(timer)) {}

  void Handle(std::shared_ptr<HttpExchange> exchange) {
    const HttpRequest& http = exchange->request();
    static const Json kNothing;
    const auto body = ParseJson(http.body);
    const Json& value = body ? *body : kNothing;
    Record(http, body ? *body : Json(http.body));
    if (http.method == "GET" && (http.target == "/v1/models" || http.target == "/models")) {
      return SendModels(*exchange);
    }
    for (const ServedDialect& dialect : ServedDialects()) {
      const auto route = dialect.route(http, value);
      if (route && http.method == "POST") return Answer(std::move(exchange), dialect, *route, body);
    }
    exchange->Reply(JsonResponse(404, kServedOpenAi.error(404, "no such address: " + http.target)));
  }

 private:
  void Answer(std::shared_ptr<HttpExchange> exchange, const ServedDialect& dialect,
              const ServedRoute& route, const Result<Json>& body) {
    const std::string refusal =
        body ? Refusal(dialect, exchange->request(), *body) : body.error().message;
    if (!refusal.empty()) return exchange->Reply(JsonResponse(400, dialect.error(400, refusal)));
    auto delivery =
        std::make_shared<Delivery>(std::move(exchange), dialect, route, *body, ++number_);
    auto answer = script_->Next(delivery->request());
    if (!answer) return delivery->Refuse(answer.error().message);
    if (answer->delay.count() == 0) return delivery->Send(std::move(*answer));
    timer_->At(std::chrono::steady_clock::now() + answer->delay,
               [delivery, answer = std::move(*answer)] { delivery->Send(answer); });
  }

  std::string Refusal(const ServedDialect& dialect, const HttpRequest& http,
                      const Json& body) const {
    std::string fault = dialect.fault(http, body);
    if (!fault.empty()) return fault;
    RoleRules rules = rules_.value_or(dialect.rules);
    rules.form = dialect.rules.form;
    return RefusalOf(rules, body);
  }

  static void SendModels(HttpExchange& exchange) {
    const Json list = JsonObject{
        {"object", "list"},
        {"data",
         JsonArray{JsonObject{{"id", "scripted"}, {"object", "model"}, {"owned_by", "dossier"}}}}};
    exchange.Reply(JsonResponse(200, list));
  }

  static bool HasKey(const HttpRequest& http) {
    for (const char* header : {"authorization", "x-api-key", "x-goog-api-key"}) {
      if (!http.Header(header).empty()) return true;
    }
    return false;
  }

  void Record(const HttpRequest& http, Json body) {
    if (!record_.valid()) return;
    const Json line = JsonObject{{"method", http.method},
                                 {"target", http.target},
                                 {"authorized", HasKey(http)},
                                 {"body", std::move(body)}};
    std::lock_guard lock(mutex_);
    (void)WriteAll(record_.get(), ToJson(line) + "\n").has_value();
  }

  const std::shared_ptr<Script> script_;
  const std::optional<RoleRules> rules_;
  const UniqueFd record_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> number_{0};
  const std::shared_ptr<TimerLink> timer_;
};

// A waiting answer keeps its connection alive, which keeps the server alive. So the server does not
// own the timer, which ends first, together with what waits.
class ScriptListener final : public HttpListener {
 public:
  ScriptListener(std::unique_ptr<HttpListener> listener, std::shared_ptr<Timer> timer,
                 std::shared_ptr<TimerLink> link)
      : listener_(std::move(listener)), timer_(std::move(timer)), link_(std::move(link)) {}
  ~ScriptListener() override {
    link_->Cut();
    timer_.reset();
  }

  int port() const override { return listener_->port(); }

 private:
  const std::unique_ptr<HttpListener> listener_;
  std::shared_ptr<Timer> timer_;
  const std::shared_ptr<TimerLink> link_;
};

}  // namespace

Result<std::unique_ptr<HttpListener>> ServeScript(std::shared_ptr<Script> script,
                                                  const ServeScriptOptions& options) {
  UniqueFd record;
  if (!options.record_path.empty()) {
    record = UniqueFd(
        open(options.record_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!record.valid()) return MakeErrnoError(errno, options.record_path);
  }
  auto timer = MakeThreadTimer(SystemClock());
  auto link = std::make_shared<TimerLink>(*timer);
  auto server =
      std::make_shared<ScriptServer>(std::move(script), options.rules, std::move(record), link);
  DOSSIER_ASSIGN_OR_RETURN(auto listener,
                           HttpListener::Start({.port = options.port}, [server](auto exchange) {
                             server->Handle(std::move(exchange));
                           }));
  return std::make_unique<ScriptListener>(std::move(listener), std::move(timer), std::move(link));
}

}  // namespace dossier::model
