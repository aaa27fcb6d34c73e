#include "server/mcp/http_server.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <optional>

#include "base/net/http_listener.h"
#include "base/net/url.h"
#include "base/random.h"
#include "base/task_group.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "server/guarded_listener.h"
#include "server/mcp/batch.h"

namespace dossier::mcp {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMostSessions = 64, kMostOfOneKey = kMostSessions / 4;
constexpr std::size_t kMostBody = 64u << 20;  // bytes
constexpr Millis kLook{50};                   // poll interval for clients that left and for timers
constexpr std::string_view kPath = "/mcp";

struct Refused {
  int status;
  RpcError error;
};

// Returns the value of a header, trimmed; nullopt if absent. `twice`: set if it is there more than
// once.
std::optional<std::string> HeaderOf(const HttpRequest& request, std::string_view name,
                                    bool* twice) {
  std::optional<std::string> found;
  for (const auto& [key, value] : request.headers) {
    if (key != name) continue;
    if (found) *twice = true;
    found = std::string(TrimSpace(value));
  }
  return found;
}

// Returns true if a header's value is `value`, plain or in base64.
bool Says(const std::string& header, std::string_view value) {
  return header == value || header == fmt::format("=?base64?{}?=", Base64(value));
}

// Returns the scope that a key needs to send a message; nullopt: none.
std::optional<server::Scope> ScopeNeeded(const RpcMessage& message) {
  if (message.method.starts_with("resources/") || message.method.starts_with("completion/") ||
      message.method.starts_with("subscriptions/")) {
    return server::Scope::kRead;
  }
  if (message.method != "tools/call") return std::nullopt;
  const std::string tool = TextAt(Json(message.params), "name");
  const bool acts = tool == "run" || tool == "ask" || tool == "remember";
  return acts ? server::Scope::kRun : server::Scope::kRead;
}

// Returns why `key` may not send one of the messages; nullopt: it may send all.
std::optional<RpcError> KeyFault(const server::ServerKey& key, const RpcMessages& messages) {
  for (const auto& message : messages.list) {
    const auto scope = message ? ScopeNeeded(*message) : std::nullopt;
    if (!scope) continue;
    const std::string what =
        message->method == "tools/call" ? TextAt(Json(message->params), "name") : message->method;
    if (!key.Has(*scope)) {
      return RpcError{kInvalidRequest, fmt::format("the key {} lacks the scope {}, which {} needs",
                                                   key.name, server::ScopeName(*scope), what)};
    }
  }
  return std::nullopt;
}

int StatusOf(int error) {
  switch (error) {
    case 0:
      return 200;
    case kMethodNotFound:
      return 404;
    case kParseError:
    case kInvalidRequest:
    case kInvalidParams:
    case kHeaderMismatch:
    case kMissingCapability:
    case kUnsupportedVersion:
      return 400;
    default:
      return 200;
  }
}

HttpResponse ErrorReply(int status, const RpcError& error, const Json& id = nullptr) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}},
          .body = ErrorText(id, error)};
}

void ReplyError(HttpExchange& exchange, int status, const RpcError& error,
                const Json& id = nullptr) {
  exchange.Reply(ErrorReply(status, error, id));
}

// The answer of one POST: JSON, or a stream of events from the first notice or after a while.
class PostOutlet final : public Outlet {
 public:
  PostOutlet(std::shared_ptr<HttpExchange> exchange, const HttpOptions& options, Era era,
             HttpHeaders headers)
      : exchange_(std::move(exchange)),
        options_(options),
        era_(era),
        headers_(std::move(headers)),
        began_(steady_clock::now()),
        spoke_(began_) {}

  void Notify(const std::string& text) override {
    const std::lock_guard lock(mutex_);
    Event(text);
  }
  void Answer(const std::string& text, int error) override {
    const std::lock_guard lock(mutex_);
    if (done_) return;
    if (streaming_) {
      Event(text);
      exchange_->Finish();
    } else {
      HttpHeaders headers = headers_;
      headers.emplace_back("Content-Type", "application/json");
      const bool plain = era_ == Era::kHandshake && error != kParseError;
      exchange_->Reply(
          {.status = plain ? 200 : StatusOf(error), .headers = std::move(headers), .body = text});
    }
    done_ = true;
  }
  void Drop() override {
    const std::lock_guard lock(mutex_);
    if (done_.exchange(true)) return;
    if (streaming_) return exchange_->Finish();
    exchange_->Reply({.status = 202, .headers = headers_});
  }

  void OpenNow() {
    const std::lock_guard lock(mutex_);
    if (!done_ && !streaming_) Open();
  }
  // Comments on a quiet stream. Returns false once the client has left; then nothing is sent. Does
  // nothing while another thread sends, perhaps to a client that does not read.
  bool Tend() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || done_) return true;
    if (exchange_->client_gone()) {
      done_ = true;
      exchange_->Abort();
      return false;
    }
    const auto now = steady_clock::now();
    if (!streaming_ && now - began_ >= options_.stream_after) Open();
    if (streaming_ && now - spoke_ >= options_.comment_every) Chunk(": still here\n\n");
    return true;
  }
  bool done() const { return done_; }

 private:
  void Open() {
    streaming_ = true;
    HttpHeaders headers = headers_;
    headers.emplace_back("Content-Type", "text/event-stream");
    headers.emplace_back("Cache-Control", "no-store");
    headers.emplace_back("X-Accel-Buffering", "no");
    exchange_->SendHead(200, std::move(headers));
    spoke_ = steady_clock::now();
  }
  void Event(const std::string& text) {
    if (done_) return;
    if (!streaming_) Open();
    Chunk(fmt::format("event: message\ndata: {}\n\n", text));
  }
  void Chunk(std::string_view text) {
    (void)exchange_->SendChunk(text);
    spoke_ = steady_clock::now();
  }

  const std::shared_ptr<HttpExchange> exchange_;
  const HttpOptions& options_;
  const Era era_;
  const HttpHeaders headers_;
  const Clock::Steady began_;
  mutable std::mutex mutex_;  // one user of the exchange at a time
  Clock::Steady spoke_;
  bool streaming_ = false;
  std::atomic<bool> done_ = false;  // read without the lock, which a sending thread may hold
};

// A client of the handshake era; lives across its requests.
struct Session {
  std::unique_ptr<ClientConnection> connection;
  std::string caller;                   // its owner: Caller::id
  std::mutex mutex;                     // guards what follows
  std::shared_ptr<PostOutlet> listens;  // the stream that a GET opened
  Clock::Steady used;
};

// One POST of the modern era.
struct Post {
  std::shared_ptr<ClientConnection> connection;  // shared with the thread that takes the message
  std::shared_ptr<PostOutlet> outlet;
  Json id;
  bool told = false;  // it was told that its client left
};

class Server final : public HttpServer {
 public:
  Server(ServerOffer& catalog, HttpOptions options)
      : catalog_(catalog), options_(std::move(options)) {}
  ~Server() override {
    listener_.reset();
    beat_ = {};
    for (const auto& [id, session] : sessions_) session->connection->CancelAll("the server ends");
    for (const Post& post : posts_) post.connection->CancelAll("the server ends");
  }

  Status Listen() {
    HttpListenerOptions listening = server::GuardedListener(options_.address);
    listening.max_body = kMostBody;
    listening.admit = [this](const HttpRequest& head) { return Admit(head); };
    DOSSIER_ASSIGN_OR_RETURN(
        listener_, HttpListener::Start(std::move(listening),
                                       [this](auto exchange) { Take(std::move(exchange)); }));
    beat_ = ticker_.Every(kLook, [this] { Look(); });
    return {};
  }
  int port() const override { return listener_->port(); }

 private:
  // An admin sees everybody's contexts and runs.
  server::ApiCaller CallerOf(const std::optional<server::ServerKey>& key) const {
    if (!key) return {};
    const bool all = key->Has(server::Scope::kAdmin);
    return {.id = key->owner(),
            .owners = all ? nullptr : options_.owners.get(),
            .usd_day = key->usd_day};
  }

  bool IsLocalName(std::string_view host) const {
    if (host == "localhost" || host == "127.0.0.1" || host == "[::1]" || host == "::1") return true;
    if (host == options_.address.host || host == fmt::format("[{}]", options_.address.host)) {
      return true;
    }
    return std::ranges::any_of(options_.allow_hosts, [&](const std::string& allowed) {
      return ToLowerAscii(allowed) == host;
    });
  }

  // Checks Host and Origin: a foreign name means a page made to look local.
  bool IsLocal(const HttpRequest& request) const {
    bool twice = false;
    std::string host = ToLowerAscii(HeaderOf(request, "host", &twice).value_or(""));
    if (const std::size_t colon = host.rfind(':'); colon != host.npos && !host.ends_with(']')) {
      host.resize(colon);
    }
    if (twice || !IsLocalName(host)) return false;
    const auto origin = HeaderOf(request, "origin", &twice);
    if (!origin) return !twice;
    const auto url = ParseUrl(*origin);
    return !twice && url && IsLocalName(url->host);
  }

  static HttpResponse NoKey() {
    return {.status = 401, .headers = {{"WWW-Authenticate", "Bearer"}}, .body = {}};
  }

  // Does not read the body of a client without a valid key.
  HttpAdmission Admit(const HttpRequest& head) const {
    HttpAdmission admission;
    if (!IsLocal(head)) {
      admission.refusal = ErrorReply(403, {kInvalidRequest,
                                           "Host and Origin must be names of this machine, or be "
                                           "named by --allow-host"});
    } else if (options_.keys && !options_.keys->Find(head.Header("authorization"))) {
      admission.refusal = NoKey();
    }
    return admission;
  }

  void Take(std::shared_ptr<HttpExchange> exchange) {
    const HttpRequest& request = exchange->request();
    std::optional<server::ServerKey> key;
    if (options_.keys) {
      key = options_.keys->Find(request.Header("authorization"));
      if (!key) return exchange->Reply(NoKey());  // revoked since the head arrived
      if (key->per_minute && !requests_.Take(key->name, *key->per_minute, steady_clock::now())) {
        return exchange->Reply({.status = 429, .headers = {{"Retry-After", "60"}}});
      }
    }
    const server::ApiCaller caller = CallerOf(key);
    if (request.target.substr(0, request.target.find('?')) != kPath) {
      return exchange->Reply({.status = 404});
    }
    if (request.method == "POST") return TakePost(std::move(exchange), key);
    bool twice = false;
    const bool modern = HeaderOf(request, "mcp-protocol-version", &twice) == kModernVersion;
    if (!modern && request.method == "DELETE") return TakeDelete(*exchange, caller);
    if (!modern && request.method == "GET") return TakeGet(std::move(exchange), caller);
    exchange->Reply({.status = 405, .headers = {{"Allow", "POST"}}});
  }

  void TakePost(std::shared_ptr<HttpExchange> exchange,
                const std::optional<server::ServerKey>& key) {
    const HttpRequest& request = exchange->request();
    const std::string accept = ToLowerAscii(request.Header("accept"));
    if (accept.find("application/json") == accept.npos ||
        accept.find("text/event-stream") == accept.npos) {
      return ReplyError(*exchange, 406,
                        {kInvalidRequest,
                         "Accept must list application/json and "
                         "text/event-stream"});
    }
    // A page of another origin can send other content types without a preflight.
    if (!ToLowerAscii(request.Header("content-type")).starts_with("application/json")) {
      return ReplyError(*exchange, 415, {kInvalidRequest, "Content-Type must be application/json"});
    }
    RpcMessages messages = ReadMessages(request.body);
    if (messages.form == RpcMessages::Form::kSingle && !messages.list[0]) {
      const RpcRefusal& refusal = messages.list[0].error();
      return ReplyError(*exchange, 400, refusal.error, refusal.id);
    }
    const server::ApiCaller caller = CallerOf(key);
    bool twice = false;
    const auto version = HeaderOf(request, "mcp-protocol-version", &twice);
    const RpcMessage* single =
        messages.form == RpcMessages::Form::kSingle ? &*messages.list[0] : nullptr;
    if (const auto fault = key ? KeyFault(*key, messages) : std::nullopt) {
      return ReplyError(*exchange, 403, *fault, single ? single->id : Json(nullptr));
    }
    const bool described = single && Enveloped(*single);
    if (twice || version == kModernVersion || (described && single->method != "initialize")) {
      return TakeModern(std::move(exchange), std::move(messages), twice ? std::nullopt : version,
                        caller);
    }
    if (version && !IsHandshakeVersion(*version)) {
      return ReplyError(*exchange, 400,
                        {kUnsupportedVersion,
                         fmt::format("MCP-Protocol-Version: {} is not spoken here", *version),
                         JsonObject{{"supported", JsonArray(kVersions.begin(), kVersions.end())},
                                    {"requested", *version}}},
                        single ? single->id : Json(nullptr));
    }
    TakeHandshake(std::move(exchange), std::move(messages), caller);
  }

  static bool Enveloped(const RpcMessage& message) {
    const Json* meta = Find(message.params, "_meta");
    return meta && Find(*meta, kMetaVersion) != nullptr;
  }

  // Headers repeat fields of the message for proxies that do not parse it; checks that they match.
  static std::optional<RpcError> HeaderFault(const HttpRequest& request, const RpcMessage& message,
                                             const std::optional<std::string>& version) {
    const auto fault = [](std::string_view header, std::string why) {
      return RpcError{kHeaderMismatch, fmt::format("{}: {}", header, why)};
    };
    if (!version) return fault("MCP-Protocol-Version", "must be there, once");
    const Json* meta = Find(message.params, "_meta");
    const std::string told = meta ? TextAt(*meta, kMetaVersion) : "";
    if (!told.empty() && told != *version) {
      return fault("MCP-Protocol-Version", fmt::format("says {}, the message {}", *version, told));
    }
    bool twice = false;
    const auto method = HeaderOf(request, "mcp-method", &twice);
    if (twice || !method || !Says(*method, message.method)) {
      return fault("Mcp-Method", fmt::format("must be {}, once", message.method));
    }
    const bool names = message.method == "tools/call" || message.method == "prompts/get";
    if (!names && message.method != "resources/read") return std::nullopt;
    const auto name = HeaderOf(request, "mcp-name", &twice);
    const std::string meant = TextAt(Json(message.params), names ? "name" : "uri");
    if (twice || !name || !Says(*name, meant)) {
      return fault("Mcp-Name", fmt::format("must be {}, once", meant));
    }
    return std::nullopt;
  }

  void TakeModern(std::shared_ptr<HttpExchange> exchange, RpcMessages messages,
                  const std::optional<std::string>& version, const server::ApiCaller& caller) {
    if (messages.form == RpcMessages::Form::kBatch) {
      return ReplyError(*exchange, 400, {kInvalidRequest, "there are no batches in 2026-07-28"});
    }
    const RpcMessage& message = *messages.list[0];
    const bool request = message.kind == RpcMessage::Kind::kRequest;
    if (request) {
      if (const auto fault = HeaderFault(exchange->request(), message, version)) {
        return ReplyError(*exchange, 400, *fault, message.id);
      }
    }
    Post post{.id = message.id};
    post.outlet =
        std::make_shared<PostOutlet>(std::move(exchange), options_, Era::kModern, HttpHeaders());
    post.connection = std::make_shared<ClientConnection>(
        catalog_, ticker_,
        ConnectionOptions{.era = Era::kModern, .info = options_.info, .caller = caller});
    const auto connection = post.connection;
    const auto outlet = post.outlet;
    {
      const std::lock_guard lock(mutex_);
      posts_.push_back(std::move(post));
    }
    connection->Handle(message, outlet);
  }

  void TakeHandshake(std::shared_ptr<HttpExchange> exchange, RpcMessages messages,
                     const server::ApiCaller& caller) {
    const HttpRequest& request = exchange->request();
    const bool opens =
        messages.form == RpcMessages::Form::kSingle && messages.list[0]->method == "initialize";
    bool twice = false;
    auto id = HeaderOf(request, "mcp-session-id", &twice);
    std::shared_ptr<Session> session;
    HttpHeaders headers;
    if (opens) {
      id = RandomHex(32);
      session = OpenSession(*id, caller);
      if (!session) {
        return ReplyError(*exchange, 503,
                          {kInvalidRequest,
                           fmt::format("{} sessions are open, or {} of this key; end one by DELETE",
                                       kMostSessions, kMostOfOneKey)});
      }
      headers.emplace_back("Mcp-Session-Id", *id);
    } else {
      if (!id || twice) {
        return ReplyError(*exchange, 400,
                          {kInvalidRequest,
                           "Mcp-Session-Id: must be there, once; "
                           "initialize gives it"});
      }
      session = FindSession(*id, caller);
      if (!session) return ReplyError(*exchange, 404, {kInvalidRequest, "this session has ended"});
    }
    const auto outlet = std::make_shared<PostOutlet>(std::move(exchange), options_, Era::kHandshake,
                                                     std::move(headers));
    {
      const std::lock_guard lock(mutex_);
      handshakes_.push_back(outlet);
    }
    Deliver(std::move(messages), *session->connection, outlet);
  }

  std::shared_ptr<Session> OpenSession(const std::string& id, const server::ApiCaller& caller) {
    auto session = std::make_shared<Session>();
    session->caller = caller.id;
    session->used = steady_clock::now();
    session->connection = std::make_unique<ClientConnection>(
        catalog_, ticker_,
        ConnectionOptions{.info = options_.info,
                          .caller = caller,
                          .notify = [weak = std::weak_ptr(session)](const std::string& text) {
                            const auto still = weak.lock();
                            if (!still) return;
                            const std::lock_guard lock(still->mutex);
                            if (still->listens) still->listens->Notify(text);
                          }});
    const std::lock_guard lock(mutex_);
    const auto own = std::ranges::count_if(
        sessions_, [&](const auto& known) { return known.second->caller == caller.id; });
    // Without keys one user has all sessions.
    const bool full = options_.keys && static_cast<std::size_t>(own) >= kMostOfOneKey;
    if (full || sessions_.size() >= kMostSessions) return nullptr;
    sessions_[id] = session;
    return session;
  }

  // A session of another caller counts as absent.
  std::shared_ptr<Session> FindSession(const std::string& id, const server::ApiCaller& caller) {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end() || found->second->caller != caller.id) return nullptr;
    found->second->used = steady_clock::now();
    return found->second;
  }

  void TakeDelete(HttpExchange& exchange, const server::ApiCaller& caller) {
    bool twice = false;
    const auto id = HeaderOf(exchange.request(), "mcp-session-id", &twice);
    const std::shared_ptr<Session> found = id ? FindSession(*id, caller) : nullptr;
    std::shared_ptr<Session> session;
    {
      const std::lock_guard lock(mutex_);
      if (found && sessions_.erase(*id) > 0) session = found;
    }
    exchange.Reply({.status = session ? 204 : 404});
    if (session) End(std::move(session));
  }

  // Opens a separate stream for messages that are no answers.
  void TakeGet(std::shared_ptr<HttpExchange> exchange, const server::ApiCaller& caller) {
    bool twice = false;
    const auto id = HeaderOf(exchange->request(), "mcp-session-id", &twice);
    const std::string accept = ToLowerAscii(exchange->request().Header("accept"));
    if (!id || accept.find("text/event-stream") == accept.npos) {
      return exchange->Reply({.status = 405, .headers = {{"Allow", "POST, DELETE"}}});
    }
    const auto session = FindSession(*id, caller);
    if (!session) return exchange->Reply({.status = 404});
    const auto outlet =
        std::make_shared<PostOutlet>(std::move(exchange), options_, Era::kHandshake, HttpHeaders());
    {
      const std::lock_guard lock(session->mutex);
      session->listens = outlet;
    }
    outlet->OpenNow();
    const std::lock_guard lock(mutex_);
    handshakes_.push_back(outlet);
  }

  // Waits for its requests, so it does not run on the listener's thread.
  void End(std::shared_ptr<Session> session) {
    ending_.RunOrDo([session = std::move(session)] {
      session->connection->CancelAll("the session was ended");
      const std::lock_guard lock(session->mutex);
      if (session->listens) session->listens->Drop();
    });
  }

  // The ticker's thread, and the only one that takes something out of `posts_`.
  void Look() {
    std::list<Post> finished;
    std::vector<std::shared_ptr<Session>> idle;
    std::vector<std::shared_ptr<PostOutlet>> handshakes;
    std::vector<std::list<Post>::iterator> posts;
    {
      const std::lock_guard lock(mutex_);
      handshakes = handshakes_;
      for (auto post = posts_.begin(); post != posts_.end(); ++post) posts.push_back(post);
    }
    // Without the lock, which every request needs. A lost connection of the handshake era cancels
    // nothing.
    std::erase_if(handshakes, [](const auto& outlet) { return outlet->Tend() && !outlet->done(); });
    for (const auto& post : posts) {
      if (!post->outlet->Tend()) Cancel(*post);
    }
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(handshakes_, [&](const auto& outlet) {
        return std::ranges::find(handshakes, outlet) != handshakes.end();
      });
      for (const auto& post : posts) {
        // A connection that still takes its message must not end.
        const bool taken = post->connection.use_count() == 1;
        if (taken && post->outlet->done()) finished.splice(finished.end(), posts_, post);
      }
      const auto now = steady_clock::now();
      for (auto at = sessions_.begin(); at != sessions_.end();) {
        const bool rests =
            now - at->second->used >= options_.session_idle && !IsAtWork(*at->second);
        if (rests) idle.push_back(at->second);
        at = rests ? sessions_.erase(at) : std::next(at);
      }
    }
    for (auto& session : idle) End(std::move(session));
    if (finished.empty()) return;
    auto ended = std::make_shared<std::list<Post>>(std::move(finished));
    ending_.RunOrDo([ended] { ended->clear(); });
  }

  // A request is being answered, or a client listens on its stream.
  static bool IsAtWork(Session& session) {
    if (session.connection->busy()) return true;
    const std::lock_guard lock(session.mutex);
    return session.listens && !session.listens->done();
  }

  // The client closed the stream of its answer, which means that it wants none.
  static void Cancel(Post& post) {
    if (std::exchange(post.told, true)) return;
    class Nowhere final : public Outlet {
      void Notify(const std::string&) override {}
      void Answer(const std::string&, int) override {}
      void Drop() override {}
    };
    const RpcMessage cancelled{.kind = RpcMessage::Kind::kNotification,
                               .method = "notifications/cancelled",
                               .params = {{"requestId", post.id}}};
    post.connection->Handle(cancelled, std::make_shared<Nowhere>());
  }

  ServerOffer& catalog_;
  const HttpOptions options_;
  Ticker ticker_;
  server::MinuteLimit requests_;  // by key name
  std::mutex mutex_;              // guards what follows, up to the listener
  std::map<std::string, std::shared_ptr<Session>> sessions_;
  std::vector<std::shared_ptr<PostOutlet>> handshakes_;
  std::list<Post> posts_;
  TaskGroup ending_;
  Ticker::Handle beat_;
  std::unique_ptr<HttpListener> listener_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Start(ServerOffer& catalog, HttpOptions options) {
  if (!options.address.is_loopback() && !options.keys) {
    return MakeError(ErrorCode::kRefused,
                     "{} can be reached by other machines, and whoever reaches the server may use "
                     "it: name a file of keys by --keys, or bind 127.0.0.1",
                     options.address.host);
  }
  auto server = std::make_unique<Server>(catalog, std::move(options));
  DOSSIER_RETURN_IF_ERROR(server->Listen());
  return server;
}

}  // namespace dossier::mcp
