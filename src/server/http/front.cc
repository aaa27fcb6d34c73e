#include "server/http/front.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/net/url.h"
#include "base/random.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "server/http/openai_reply.h"

namespace dossier::server {
namespace {

constexpr std::int64_t kMostFailures = 10;  // of keys, a minute, from all clients
constexpr std::size_t kJsonDepth = 128;
// Bytes of an unused body that are accepted: some clients send one with each request.
constexpr std::uint64_t kMostUnread = 16u << 10;
constexpr WorkLimits kLooks{.running = 16, .waiting = 256};
constexpr std::string_view kLocalHosts[] = {"localhost", "127.0.0.1", "[::1]"};

std::map<std::string, std::string> QueryOf(std::string_view text) {
  std::map<std::string, std::string> out;
  for (const std::string_view pair : Split(text, '&')) {
    const std::size_t equals = pair.find('=');
    if (pair.empty()) continue;
    out[PercentDecoded(ReplaceAll(pair.substr(0, equals), "+", " "))] =
        equals == pair.npos ? "" : PercentDecoded(ReplaceAll(pair.substr(equals + 1), "+", " "));
  }
  return out;
}

// Returns the parts of `path` that match {…} in `pattern`; unset if the route does not match.
std::optional<std::vector<std::string>> Match(std::string_view pattern, std::string_view path) {
  const auto wanted = Split(pattern, '/'), given = Split(path, '/');
  if (wanted.size() != given.size()) return {};
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].starts_with('{')) {
      if (given[i].empty()) return {};
      parts.push_back(PercentDecoded(given[i]));
    } else if (wanted[i] != given[i]) {
      return {};
    }
  }
  return parts;
}

// Returns the host of "HOST:PORT" in lower case.
std::string HostName(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  const bool port = colon != host.npos && (bracket == host.npos || colon > bracket);
  return ToLowerAscii(port ? host.substr(0, colon) : host);
}

}  // namespace

Call::Call(Front& front, std::shared_ptr<HttpExchange> exchange, std::string route, ServerKey key,
           std::vector<std::string> parts, std::map<std::string, std::string> query)
    : front_(front),
      exchange_(std::move(exchange)),
      route_(std::move(route)),
      id_("req_" + RandomHex(24)),
      key_(std::move(key)),
      parts_(std::move(parts)),
      query_(std::move(query)),
      began_(front.clock().Now()) {}

Call::~Call() {
  if (!request().body_file.empty()) unlink(request().body_file.c_str());
}

std::string Call::Query(const std::string& name) const {
  const auto found = query_.find(name);
  return found == query_.end() ? "" : found->second;
}

Result<Json> Call::Body() const {
  auto body = ParseJson(request().body, kJsonDepth);
  if (body) return body;
  return MakeError(ErrorCode::kInvalidArgument, "the body is no JSON: {}", body.error().message);
}

HttpHeaders Call::Answering(int status, HttpHeaders headers) {
  front_.metrics_.Add("requests_total", {{"route", route_}, {"code", std::to_string(status)}});
  front_.metrics_.Observe("request_seconds",
                          std::chrono::duration<double>(front_.clock().Now() - began_).count());
  headers.emplace_back("X-Request-Id", id_);
  headers.emplace_back("Cache-Control", "no-store");
  headers.emplace_back("X-Content-Type-Options", "nosniff");
  for (auto& header : front_.CorsHeaders(request())) headers.push_back(std::move(header));
  return headers;
}

void Call::ReplyText(int status, std::string type, std::string body, HttpHeaders headers) {
  headers.emplace_back("Content-Type", std::move(type));
  exchange_->Reply({.status = status,
                    .headers = Answering(status, std::move(headers)),
                    .body = std::move(body)});
}

void Call::Reply(int status, const Json& body, HttpHeaders headers) {
  ReplyText(status, "application/json", ToJson(body), std::move(headers));
}

void Call::Fail(const Error& error) {
  const ParamMessage parts = SplitParam(error);
  if (!parts.param.empty()) return Fail(400, parts.message, "invalid_value", Json(parts.param));
  Error shown = ErrorFor(key_, error);
  shown.message = Redact(shown.message);
  Reply(HttpStatusOf(error.code), ErrorJson(shown), AgainHeaders(error.code));
}

void Call::Fail(int status, std::string_view message, std::string_view code, Json param) {
  const std::string_view type = status == 401   ? "authentication_error"
                                : status == 403 ? "permission_error"
                                : status == 429 ? "rate_limit_error"
                                : status >= 500 ? "server_error"
                                                : "invalid_request_error";
  Reply(status, ErrorJson(message, type, std::move(param), Json(code)));
}

void Call::Later(std::function<void()> work) { SubmitTo(front_.looks_, std::move(work)); }
void Call::Queue(std::function<void()> work) { SubmitTo(front_.work_, std::move(work)); }

void Call::SubmitTo(WorkQueue& queue, std::function<void()> work) {
  if (!queue.Submit(std::move(work))) FailBusy();
}

void Call::FailBusy() {
  const bool ends = front_.work_.draining();
  Reply(ends ? 503 : 429,
        ends ? ErrorJson("the server ends", "server_error", nullptr, "server_ends")
             : ErrorJson("too many requests are running and waiting", "rate_limit_error", nullptr,
                         "server_busy"),
        {{"Retry-After", "5"}});
}

Front::Front(FrontSetting setting)
    : setting_(std::move(setting)), looks_(kLooks), work_(setting_.work) {
  for (std::string& host : setting_.hosts) host = HostName(host);
}

void Front::Add(std::vector<Route> routes) {
  for (Route& route : routes) routes_.push_back(std::move(route));
}

Front::Found Front::FindRoute(const HttpRequest& request) const {
  const std::string_view target = request.target;
  const std::size_t mark = target.find('?');
  const std::string_view path = target.substr(0, mark);
  Found found;
  if (mark != target.npos) found.query = QueryOf(target.substr(mark + 1));
  for (const Route& route : routes_) {
    auto parts = Match(route.pattern, path);
    if (!parts) continue;
    found.path_known = true;
    if (route.method != request.method) continue;
    found.route = &route;
    found.parts = std::move(*parts);
    return found;
  }
  return found;
}

HttpHeaders Front::CorsHeaders(const HttpRequest& request) const {
  const std::string origin(request.Header("origin"));
  if (origin.empty() || std::ranges::find(setting_.origins, origin) == setting_.origins.end()) {
    return {};
  }
  return {{"Access-Control-Allow-Origin", origin},
          {"Access-Control-Expose-Headers", "X-Request-Id, X-Dossier-Warnings"},
          {"Vary", "Origin"}};
}

HttpResponse Front::Refuse(const HttpRequest& request, int status, std::string_view message,
                           std::string_view code, HttpHeaders headers) const {
  const std::string_view type = status == 401   ? "authentication_error"
                                : status == 403 ? "permission_error"
                                : status == 429 ? "rate_limit_error"
                                                : "invalid_request_error";
  headers.emplace_back("Content-Type", "application/json");
  headers.emplace_back("X-Request-Id", "req_" + RandomHex(24));
  for (auto& header : CorsHeaders(request)) headers.push_back(std::move(header));
  return {.status = status,
          .headers = std::move(headers),
          .body = ToJson(ErrorJson(message, type, nullptr, Json(code)))};
}

// DNS rebinding: a foreign page can send requests here, under a name that points at this machine.
std::optional<HttpResponse> Front::CheckSource(const HttpRequest& request) const {
  const std::string_view given = request.Header("host");
  const bool plain = std::ranges::all_of(given, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' ||
           c == ':' || c == '[' || c == ']';
  });
  const std::string host = plain ? HostName(given) : std::string();
  const bool local = std::ranges::find(kLocalHosts, host) != std::end(kLocalHosts);
  if (!local && std::ranges::find(setting_.hosts, host) == setting_.hosts.end()) {
    return Refuse(request, 403,
                  "this host name is not served; start the server with --allow-host NAME",
                  "host_not_allowed");
  }
  const std::string origin(request.Header("origin"));
  if (origin.empty() || std::ranges::find(setting_.origins, origin) != setting_.origins.end()) {
    return {};
  }
  // The viewer's own page sends its own origin.
  if (origin == "http://" + std::string(request.Header("host"))) return {};
  return Refuse(request, 403,
                "pages of this origin may not ask; start the server with --allow-origin ORIGIN",
                "origin_not_allowed");
}

std::optional<HttpResponse> Front::CheckKey(const HttpRequest& request, const Route& route,
                                            ServerKey* key) {
  if (!route.scope) return {};
  if (!setting_.keys) {
    *key = {.name = "local", .sha256 = {}, .scopes = {true, true, true}};
    return {};
  }
  const auto now = setting_.clock->Now();
  const std::string_view given = request.Header("authorization");
  const std::optional<ServerKey> found = setting_.keys->Find(given);
  // A valid key is never locked out by the failures of others.
  if (!found) {
    if (failures_.Counted("keys", now) >= kMostFailures) {
      return Refuse(request, 429, "too many wrong keys; wait a minute", "too_many_failures",
                    {{"Retry-After", "60"}});
    }
    if (!given.empty()) failures_.Count("keys", now);
    return Refuse(request, 401,
                  given.empty()
                      ? "a key is needed: Authorization: Bearer dsk_…"
                      : "this key is not known here: it was revoked, or belongs to another "
                        "server or an earlier start of this one",
                  "invalid_api_key", {{"WWW-Authenticate", "Bearer"}});
  }
  if (!found->Has(*route.scope)) {
    return Refuse(request, 403, fmt::format("this key lacks the scope {}", ScopeName(*route.scope)),
                  "insufficient_scope");
  }
  *key = *found;
  return {};
}

Front::Judged Front::Judge(const HttpRequest& request) {
  Judged out{.found = FindRoute(request)};
  out.refusal = CheckSource(request);
  if (out.refusal) return out;
  if (request.method == "OPTIONS" && !CorsHeaders(request).empty()) {
    HttpHeaders headers = CorsHeaders(request);
    headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, DELETE");
    headers.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type");
    headers.emplace_back("Access-Control-Max-Age", "600");
    out.refusal = HttpResponse{.status = 204, .headers = std::move(headers), .body = {}};
  } else if (!out.found.route && out.found.path_known) {
    out.refusal =
        Refuse(request, 405, "this address does not take " + request.method, "method_not_allowed");
  } else if (!out.found.route) {
    std::vector<std::string> known;
    for (const Route& route : routes_) {
      if (route.pattern.starts_with("/v1/")) known.push_back(route.method + " " + route.pattern);
    }
    out.refusal =
        Refuse(request, 404,
               "there is no such address; there are " + Join(known, ", ") + " and /api/v1/runs",
               "unknown_url");
  } else {
    out.refusal = CheckKey(request, *out.found.route, &out.key);
  }
  return out;
}

HttpAdmission Front::Admit(const HttpRequest& head) {
  HttpAdmission out{.max_body = setting_.max_body};
  const std::string_view length = head.Header("content-length");
  const bool has_body =
      (!length.empty() && length != "0") || !head.Header("transfer-encoding").empty();
  if (!has_body) return out;
  // Does not accept a body from a client that may not send it.
  Judged judged = Judge(head);
  if (judged.refusal) return {.refusal = std::move(judged.refusal)};
  const Route& route = *judged.found.route;
  if (route.body_file) {
    out.max_body = setting_.max_upload;
    out.file = route.body_file();
  } else if (!route.scope || route.method != "POST") {
    out.max_body = std::min(setting_.max_body, kMostUnread);
  }
  return out;
}

void Front::Handle(std::shared_ptr<HttpExchange> exchange) {
  // The uploaded file is removed with the call, or with the refusal.
  struct Upload {
    std::string path;
    ~Upload() {
      if (!path.empty()) unlink(path.c_str());
    }
  } upload{exchange->request().body_file};
  Judged judged = Judge(exchange->request());
  if (judged.refusal) {
    metrics_.Add("requests_total",
                 {{"route", judged.found.route ? judged.found.route->pattern : "other"},
                  {"code", std::to_string(judged.refusal->status)}});
    return exchange->Reply(std::move(*judged.refusal));
  }
  const std::string_view coding = exchange->request().Header("content-encoding");
  if (!coding.empty() && coding != "identity") {
    return exchange->Reply(Refuse(exchange->request(), 415,
                                  "Content-Encoding: bodies are taken as they are, not compressed",
                                  "unsupported_encoding"));
  }
  const ServerKey& key = judged.key;
  if (key.per_minute && !requests_.Take(key.name, *key.per_minute, setting_.clock->Now())) {
    return exchange->Reply(Refuse(exchange->request(), 429,
                                  "this key's requests of a minute are used up",
                                  "rate_limit_exceeded", {{"Retry-After", "60"}}));
  }
  const Route& route = *judged.found.route;
  upload.path.clear();
  route.handler(std::make_shared<Call>(*this, std::move(exchange), route.pattern,
                                       std::move(judged.key), std::move(judged.found.parts),
                                       std::move(judged.found.query)));
}

}  // namespace dossier::server
