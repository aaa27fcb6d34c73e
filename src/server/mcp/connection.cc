#include "server/mcp/connection.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "base/task_group.h"
#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "server/mcp/progress_gate.h"

namespace dossier::mcp {
namespace {

constexpr std::size_t kPage = 100;
constexpr std::size_t kMostRunning = 256;      // requests of one connection
constexpr std::size_t kMostSubscribed = 1000;  // resources of one connection, or of one request
constexpr std::int64_t kToolsTtl = 3'600'000;  // ms; the table is constant in the program
constexpr std::string_view kMetaServer = "io.modelcontextprotocol/serverInfo";
constexpr std::string_view kMetaLogLevel = "io.modelcontextprotocol/logLevel";
constexpr std::string_view kMetaSubscription = "io.modelcontextprotocol/subscriptionId";
constexpr std::array<std::string_view, 8> kLevels = {"debug", "info",     "notice", "warning",
                                                     "error", "critical", "alert",  "emergency"};

std::optional<std::size_t> LevelOf(std::string_view name) {
  const auto* found = std::ranges::find(kLevels, name);
  if (found == kLevels.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kLevels.begin());
}

const JsonObject* MetaOf(const JsonObject& params) {
  const Json* meta = Find(params, "_meta");
  return meta ? meta->if_object() : nullptr;
}

bool HasEnvelope(const RpcMessage& message) {
  const JsonObject* meta = MetaOf(message.params);
  return meta && meta->contains(kMetaVersion);
}

JsonArray VersionList() { return JsonArray(kVersions.begin(), kVersions.end()); }

JsonObject InfoJson(const ServerInfo& info) {
  return {{"name", info.name}, {"title", info.title}, {"version", info.version}};
}

JsonObject Capabilities(Era era) {
  JsonObject out{{"tools", JsonObject{}},
                 {"resources", JsonObject{{"subscribe", true}}},
                 {"prompts", JsonObject{}},
                 {"completions", JsonObject{}}};
  if (era == Era::kHandshake) out["logging"] = JsonObject{};
  return out;
}

// Returns a page of a list; its cursor is the index of the next page's first item.
RpcResult PageOf(std::string_view key, const JsonArray& all, const JsonObject& params) {
  std::size_t from = 0;
  if (const Json* cursor = params.if_contains("cursor")) {
    const auto at =
        cursor->is_string() ? ParseWhole(cursor->get_string()) : Result<std::int64_t>(-1);
    if (!at || *at < 0 || static_cast<std::size_t>(*at) > all.size()) {
      return Fault(kInvalidParams, "/cursor: is none that this server gave");
    }
    from = static_cast<std::size_t>(*at);
  }
  const std::size_t to = std::min(all.size(), from + kPage);
  JsonObject out;
  out[key] = JsonArray(all.begin() + static_cast<std::ptrdiff_t>(from),
                       all.begin() + static_cast<std::ptrdiff_t>(to));
  if (to < all.size()) out["nextCursor"] = std::to_string(to);
  return out;
}

tl::expected<std::string, RpcError> TextParam(const JsonObject& params, std::string_view name) {
  const Json* value = params.if_contains(name);
  if (value && value->is_string()) return std::string(value->get_string());
  return Fault(kInvalidParams, fmt::format("/{}: must be a text", name));
}

}  // namespace

bool IsHandshakeVersion(std::string_view version) {
  return version != kModernVersion && std::ranges::find(kVersions, version) != kVersions.end();
}

class ClientConnection::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(ServerOffer& catalog, Ticker& ticker, ConnectionOptions options)
      : catalog_(catalog),
        ticker_(ticker),
        options_(std::move(options)),
        era_(options_.era),
        version_(options_.version) {}

  void Start() {
    watch_ = catalog_.Watch([this](std::string_view uri) { Changed(uri); });
  }
  void Handle(const RpcMessage& message, std::shared_ptr<Outlet> outlet);
  void CancelAll(const std::string& reason);
  bool busy() const {
    const std::lock_guard lock(mutex_);
    return !running_.empty();
  }

  Era era() const {
    const std::lock_guard lock(mutex_);
    return era_;
  }
  std::string version() const {
    const std::lock_guard lock(mutex_);
    return version_;
  }

 private:
  // A request that is being answered.
  struct Running {
    std::shared_ptr<Outlet> outlet;
    CancelSource stop;
    std::mutex sending;  // held while one of its messages is sent
    bool ended = false;  // answered or dropped
    std::shared_ptr<ProgressGate> progress;
    Ticker::Handle beat;
    std::optional<std::size_t> log_level;
  };
  struct Subscription {
    std::shared_ptr<Running> request;
    Json id;
    std::set<std::string> uris;
  };
  enum class Where : std::uint8_t { kHere, kThread };  // kThread: it may take long
  struct Method {
    std::string_view name;
    Era era;  // kUndecided: both
    Where where;
    RpcResult (Impl::*answer)(const JsonObject& params, const CallContext& call);
    std::optional<std::int64_t> ttl;  // for a modern result that may be cached
  };
  static const Method kMethods[];
  static const Method* FindMethod(std::string_view name, Era era);

  tl::expected<void, RpcError> Decide(const RpcMessage& message);
  tl::expected<void, RpcError> CheckEnvelope(const RpcMessage& message) const;
  void Cancelled(const RpcMessage& message);
  void Listen(const RpcMessage& message, const std::shared_ptr<Running>& running);
  void Answer(const RpcMessage& message, const Method& method,
              const std::shared_ptr<Running>& running);
  std::shared_ptr<Running> Begin(const RpcMessage& message, std::shared_ptr<Outlet> outlet);
  void End(const Json& id, Running& running, const RpcResult& result);
  static void Send(Running& running, const std::string& text);
  JsonObject Dress(JsonObject result, const Method& method) const;
  void Changed(std::string_view uri);

  RpcResult Initialize(const JsonObject& params, const CallContext&);
  RpcResult Discover(const JsonObject&, const CallContext&);
  RpcResult Ping(const JsonObject&, const CallContext&) { return JsonObject(); }
  RpcResult ListTools(const JsonObject& params, const CallContext&) {
    return PageOf("tools", catalog_.Tools(), params);
  }
  RpcResult CallTool(const JsonObject& params, const CallContext& call) {
    const auto name = TextParam(params, "name");
    if (!name) return tl::unexpected(name.error());
    const Json* arguments = params.if_contains("arguments");
    return catalog_.CallTool(*name, arguments ? *arguments : Json(nullptr), call);
  }
  RpcResult ListResources(const JsonObject& params, const CallContext& call) {
    return PageOf("resources", catalog_.Resources(call), params);
  }
  RpcResult ListTemplates(const JsonObject& params, const CallContext&) {
    return PageOf("resourceTemplates", catalog_.ResourceTemplates(), params);
  }
  RpcResult ReadResource(const JsonObject& params, const CallContext& call);
  RpcResult Subscribe(const JsonObject& params, const CallContext&);
  RpcResult Unsubscribe(const JsonObject& params, const CallContext&);
  RpcResult ListPrompts(const JsonObject& params, const CallContext&) {
    return PageOf("prompts", catalog_.Prompts(), params);
  }
  RpcResult GetPrompt(const JsonObject& params, const CallContext&);
  RpcResult Complete(const JsonObject& params, const CallContext&);
  RpcResult SetLevel(const JsonObject& params, const CallContext&);
  RpcResult NoListen(const JsonObject&, const CallContext&) { return JsonObject(); }

  ServerOffer& catalog_;
  Ticker& ticker_;
  const ConnectionOptions options_;
  std::uint64_t watch_ = 0;

  mutable std::mutex mutex_;  // guards all below
  Era era_;
  std::string version_;
  std::map<std::string, std::shared_ptr<Running>> running_;  // by id, as JSON
  std::optional<std::size_t> log_level_;                     // for a handshake connection
  std::set<std::string> subscribed_;
  std::vector<Subscription> subscriptions_;
  bool closed_ = false;
  TaskGroup tasks_;  // last
};

const ClientConnection::Impl::Method ClientConnection::Impl::kMethods[] = {
    {"initialize", Era::kHandshake, Where::kHere, &Impl::Initialize, {}},
    {"ping", Era::kHandshake, Where::kHere, &Impl::Ping, {}},
    {"logging/setLevel", Era::kHandshake, Where::kHere, &Impl::SetLevel, {}},
    {"resources/subscribe", Era::kHandshake, Where::kHere, &Impl::Subscribe, {}},
    {"resources/unsubscribe", Era::kHandshake, Where::kHere, &Impl::Unsubscribe, {}},
    {"server/discover", Era::kModern, Where::kHere, &Impl::Discover, 0},
    {"subscriptions/listen", Era::kModern, Where::kHere, &Impl::NoListen, {}},
    {"tools/list", Era::kUndecided, Where::kHere, &Impl::ListTools, kToolsTtl},
    {"tools/call", Era::kUndecided, Where::kThread, &Impl::CallTool, {}},
    {"resources/list", Era::kUndecided, Where::kThread, &Impl::ListResources, 0},
    {"resources/templates/list", Era::kUndecided, Where::kHere, &Impl::ListTemplates, 0},
    {"resources/read", Era::kUndecided, Where::kThread, &Impl::ReadResource, 0},
    {"prompts/list", Era::kUndecided, Where::kHere, &Impl::ListPrompts, 0},
    {"prompts/get", Era::kUndecided, Where::kThread, &Impl::GetPrompt, {}},
    {"completion/complete", Era::kUndecided, Where::kThread, &Impl::Complete, {}},
};

const ClientConnection::Impl::Method* ClientConnection::Impl::FindMethod(std::string_view name,
                                                                         Era era) {
  for (const Method& method : kMethods) {
    if (method.name == name && (method.era == Era::kUndecided || method.era == era)) return &method;
  }
  return nullptr;
}

// The first request decides the era of a connection.
tl::expected<void, RpcError> ClientConnection::Impl::Decide(const RpcMessage& message) {
  const bool initialize = message.method == "initialize", envelope = HasEnvelope(message);
  const std::lock_guard lock(mutex_);
  if (era_ == Era::kUndecided) {
    if (initialize) {
      era_ = Era::kHandshake;
    } else if (envelope || message.method == "server/discover") {
      era_ = Era::kModern;
    } else if (message.method != "ping") {
      return Fault(kInvalidParams,
                   fmt::format("{}: begin with initialize, or describe the request in /_meta/{}",
                               message.method, kMetaVersion));
    }
    return {};
  }
  if (era_ == Era::kModern && initialize && options_.era == Era::kUndecided) {
    const Json* asked = Find(message.params, "protocolVersion");
    return Fault(kUnsupportedVersion, "initialize: this connection speaks 2026-07-28",
                 JsonObject{{"supported", JsonArray{kModernVersion}},
                            {"requested", asked ? *asked : Json(nullptr)}});
  }
  if (era_ == Era::kHandshake && envelope) {
    return Fault(kInvalidRequest,
                 fmt::format("{}: this connection was opened by initialize, so a request has no "
                             "/_meta/{}",
                             message.method, kMetaVersion));
  }
  if (era_ == Era::kHandshake && version_.empty() && !initialize && message.method != "ping") {
    return Fault(kInvalidRequest, fmt::format("{}: initialize comes first", message.method));
  }
  return {};
}

tl::expected<void, RpcError> ClientConnection::Impl::CheckEnvelope(
    const RpcMessage& message) const {
  if (era() != Era::kModern) return {};
  const JsonObject* meta = MetaOf(message.params);
  const Json* version = meta ? meta->if_contains(kMetaVersion) : nullptr;
  if (!version || !version->is_string()) {
    return Fault(kInvalidParams, fmt::format("/_meta/{}: must be a text", kMetaVersion));
  }
  const Json* capabilities = meta->if_contains(kMetaCapabilities);
  if (!capabilities || !capabilities->is_object()) {
    return Fault(kInvalidParams, fmt::format("/_meta/{}: must be an object", kMetaCapabilities));
  }
  if (version->get_string() != kModernVersion) {
    return Fault(kUnsupportedVersion,
                 fmt::format("/_meta/{}: {} is not spoken here", kMetaVersion,
                             std::string_view(version->get_string())),
                 JsonObject{{"supported", VersionList()}, {"requested", *version}});
  }
  return {};
}

void ClientConnection::Impl::Handle(const RpcMessage& message, std::shared_ptr<Outlet> outlet) {
  if (message.kind == RpcMessage::Kind::kResponse) return outlet->Drop();  // we send no requests
  if (message.kind == RpcMessage::Kind::kNotification) {
    if (message.method == "notifications/cancelled") Cancelled(message);
    return outlet->Drop();
  }
  auto allowed = Decide(message);
  if (allowed) allowed = CheckEnvelope(message);
  if (!allowed) {
    return outlet->Answer(ErrorText(message.id, allowed.error()), allowed.error().code);
  }
  const Era era = this->era() == Era::kUndecided ? Era::kHandshake : this->era();
  const Method* method = FindMethod(message.method, era);
  if (!method) {
    std::vector<std::string_view> names;
    for (const Method& known : kMethods) {
      if (FindMethod(known.name, era)) names.push_back(known.name);
    }
    const RpcError error{kMethodNotFound, fmt::format("there is no method {}{}", message.method,
                                                      DidYouMean(message.method, names))};
    return outlet->Answer(ErrorText(message.id, error), error.code);
  }
  const auto running = Begin(message, std::move(outlet));
  if (!running) return;
  if (method->answer == &Impl::NoListen) return Listen(message, running);
  if (method->where == Where::kHere) return Answer(message, *method, running);
  tasks_.RunOrDo(
      [self = this, message, method, running] { self->Answer(message, *method, running); });
}

// Returns null if the id is in use; the request was refused then.
std::shared_ptr<ClientConnection::Impl::Running> ClientConnection::Impl::Begin(
    const RpcMessage& message, std::shared_ptr<Outlet> outlet) {
  auto running = std::make_shared<Running>();
  running->outlet = outlet;
  const JsonObject* meta = MetaOf(message.params);
  const Json* token = meta ? meta->if_contains("progressToken") : nullptr;
  if (token && (token->is_string() || token->is_int64() || token->is_uint64())) {
    running->progress = std::make_shared<ProgressGate>(
        *token, [weak = std::weak_ptr(running)](const std::string& text) {
          if (const auto still = weak.lock()) Send(*still, text);
        });
    running->beat = ticker_.Every(Millis(250), [gate = running->progress] { gate->Tick(); });
  }
  const std::string key = ToJson(message.id);
  {
    const std::lock_guard lock(mutex_);
    running->log_level = log_level_;
    if (era_ == Era::kModern && meta) {
      const Json* level = meta->if_contains(kMetaLogLevel);
      if (level && level->is_string()) running->log_level = LevelOf(level->get_string());
    }
    const bool room = !closed_ && running_.size() < kMostRunning;
    if (room && running_.emplace(key, running).second) return running;
  }
  running->ended = true;
  const RpcError error{
      kInvalidRequest,
      fmt::format("/id: a request {} is still running, or {} others are", key, kMostRunning)};
  outlet->Answer(ErrorText(message.id, error), error.code);
  return nullptr;
}

void ClientConnection::Impl::Send(Running& running, const std::string& text) {
  const std::lock_guard lock(running.sending);
  if (!running.ended) running.outlet->Notify(text);
}

void ClientConnection::Impl::Answer(const RpcMessage& message, const Method& method,
                                    const std::shared_ptr<Running>& running) {
  CallContext call{.cancel = running->stop.token(), .caller = options_.caller};
  if (running->progress) {
    call.progress = [gate = running->progress](const server::Progress& progress) {
      gate->Offer(progress);
    };
  }
  call.log = [running](std::string_view level, Json data) {
    const auto rank = LevelOf(level);
    if (!rank || !running->log_level || *rank < *running->log_level) return;
    Send(*running, NotificationText("notifications/message",
                                    {{"level", level}, {"logger", "dossier"}, {"data", data}}));
  };
  const JsonObject* meta = MetaOf(message.params);
  if (const Json* capabilities = meta ? Find(*meta, kMetaCapabilities) : nullptr) {
    if (capabilities->is_object()) call.capabilities = capabilities->get_object();
  }
  RpcResult result = (this->*method.answer)(message.params, call);
  if (result) result = Dress(std::move(*result), method);
  End(message.id, *running, result);
}

void ClientConnection::Impl::End(const Json& id, Running& running, const RpcResult& result) {
  if (running.progress) running.progress->Close();
  {
    const std::lock_guard lock(mutex_);
    running_.erase(ToJson(id));
  }
  running.beat = {};
  const std::lock_guard lock(running.sending);
  if (running.ended) return;
  running.ended = true;
  if (running.stop.token().cancelled()) return running.outlet->Drop();
  if (result) return running.outlet->Answer(ResultText(id, *result), 0);
  running.outlet->Answer(ErrorText(id, result.error()), result.error().code);
}

// Adds the fields of every modern result.
JsonObject ClientConnection::Impl::Dress(JsonObject result, const Method& method) const {
  if (era() != Era::kModern) return result;
  if (!result.contains("resultType")) result["resultType"] = "complete";
  JsonObject meta;
  if (const Json* given = Find(result, "_meta"); given && given->is_object()) {
    meta = given->get_object();
  }
  meta[kMetaServer] = InfoJson(options_.info);
  result["_meta"] = std::move(meta);
  if (method.ttl) {
    result["ttlMs"] = *method.ttl;
    result["cacheScope"] = "private";
  }
  return result;
}

void ClientConnection::Impl::Cancelled(const RpcMessage& message) {
  const Json* id = message.params.if_contains("requestId");
  if (!id) return;
  std::shared_ptr<Running> running;
  {
    const std::lock_guard lock(mutex_);
    const auto found = running_.find(ToJson(*id));
    if (found == running_.end()) return;
    running = found->second;
    running_.erase(found);
    std::erase_if(subscriptions_, [&](const auto& one) { return one.request == running; });
  }
  if (running->progress) running->progress->Close();
  {
    const std::lock_guard lock(running->sending);
    if (!running->ended) running->outlet->Drop();
    running->ended = true;
  }
  const std::string reason = TextAt(Json(message.params), "reason");
  running->stop.Cancel(reason.empty() ? "the client cancelled it" : reason);
}

void ClientConnection::Impl::CancelAll(const std::string& reason) {
  std::map<std::string, std::shared_ptr<Running>> all;
  std::vector<Subscription> subscriptions;
  std::uint64_t watch = 0;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    all.swap(running_);
    subscriptions.swap(subscriptions_);
    watch = std::exchange(watch_, 0);
  }
  if (watch != 0) catalog_.Forget(watch);
  for (const auto& [id, running] : all) {
    if (running->progress) running->progress->Close();
    running->stop.Cancel(reason);
    const std::lock_guard lock(running->sending);
    if (!running->ended) running->outlet->Drop();
    running->ended = true;
  }
  tasks_.Join();
}

RpcResult ClientConnection::Impl::Initialize(const JsonObject& params, const CallContext&) {
  const auto asked = TextParam(params, "protocolVersion");
  if (!asked) return tl::unexpected(asked.error());
  std::string version(IsHandshakeVersion(*asked) ? std::string_view(*asked) : kNewestHandshake);
  {
    const std::lock_guard lock(mutex_);
    version_ = version;
  }
  JsonObject out{{"protocolVersion", std::move(version)},
                 {"capabilities", Capabilities(Era::kHandshake)},
                 {"serverInfo", InfoJson(options_.info)}};
  if (std::string text = catalog_.Instructions(); !text.empty()) {
    out["instructions"] = std::move(text);
  }
  return out;
}

RpcResult ClientConnection::Impl::Discover(const JsonObject&, const CallContext&) {
  JsonObject out{{"supportedVersions", VersionList()},
                 {"capabilities", Capabilities(Era::kModern)}};
  if (std::string text = catalog_.Instructions(); !text.empty()) {
    out["instructions"] = std::move(text);
  }
  return out;
}

RpcResult ClientConnection::Impl::ReadResource(const JsonObject& params, const CallContext& call) {
  const auto uri = TextParam(params, "uri");
  if (!uri) return tl::unexpected(uri.error());
  RpcResult read = catalog_.ReadResource(*uri, call);
  if (!read && read.error().code == kNoResource && era() == Era::kModern) {
    read.error().code = kInvalidParams;
  }
  return read;
}

RpcResult ClientConnection::Impl::Subscribe(const JsonObject& params, const CallContext&) {
  const auto uri = TextParam(params, "uri");
  if (!uri) return tl::unexpected(uri.error());
  const std::lock_guard lock(mutex_);
  if (subscribed_.size() >= kMostSubscribed) {
    return Fault(kInvalidParams, "/uri: too many resources are subscribed to");
  }
  subscribed_.insert(*uri);
  return JsonObject();
}

RpcResult ClientConnection::Impl::Unsubscribe(const JsonObject& params, const CallContext&) {
  const auto uri = TextParam(params, "uri");
  if (!uri) return tl::unexpected(uri.error());
  const std::lock_guard lock(mutex_);
  subscribed_.erase(*uri);
  return JsonObject();
}

// The request stays open; only its cancellation ends it.
void ClientConnection::Impl::Listen(const RpcMessage& message,
                                    const std::shared_ptr<Running>& running) {
  const Json* filter = Find(message.params, "notifications");
  if (!filter || !filter->is_object()) {
    return End(message.id, *running,
               Fault(kInvalidParams,
                     "/notifications: must be an object, such as "
                     "{\"resourceSubscriptions\": [\"dossier://run/ID\"]}"));
  }
  Subscription subscription{.request = running, .id = message.id};
  JsonArray honoured;
  const Json* wanted = Find(*filter, "resourceSubscriptions");
  if (wanted && wanted->is_array() && wanted->get_array().size() > kMostSubscribed) {
    return End(message.id, *running,
               Fault(kInvalidParams,
                     fmt::format("/notifications/resourceSubscriptions: more than {} resources; "
                                 "divide them among several requests",
                                 kMostSubscribed)));
  }
  for (const std::string& uri : StringsOf(wanted)) {
    subscription.uris.insert(uri);
    honoured.emplace_back(uri);
  }
  JsonObject told;
  if (!honoured.empty()) told["resourceSubscriptions"] = std::move(honoured);
  Send(*running, NotificationText("notifications/subscriptions/acknowledged",
                                  {{"_meta", JsonObject{{kMetaSubscription, message.id}}},
                                   {"notifications", std::move(told)}}));
  const std::lock_guard lock(mutex_);
  subscriptions_.push_back(std::move(subscription));
}

void ClientConnection::Impl::Changed(std::string_view uri) {
  std::vector<std::pair<std::shared_ptr<Running>, Json>> listening;
  bool subscribed = false;
  {
    const std::lock_guard lock(mutex_);
    subscribed = subscribed_.contains(std::string(uri));
    for (const Subscription& one : subscriptions_) {
      if (one.uris.contains(std::string(uri))) listening.emplace_back(one.request, one.id);
    }
  }
  constexpr std::string_view kUpdated = "notifications/resources/updated";
  if (subscribed && options_.notify) options_.notify(NotificationText(kUpdated, {{"uri", uri}}));
  for (const auto& [request, id] : listening) {
    Send(*request, NotificationText(
                       kUpdated, {{"_meta", JsonObject{{kMetaSubscription, id}}}, {"uri", uri}}));
  }
}

RpcResult ClientConnection::Impl::GetPrompt(const JsonObject& params, const CallContext&) {
  const auto name = TextParam(params, "name");
  if (!name) return tl::unexpected(name.error());
  const Json* arguments = Find(params, "arguments");
  if (arguments && !arguments->is_object()) {
    return Fault(kInvalidParams, "/arguments: must be an object");
  }
  return catalog_.GetPrompt(*name, arguments ? arguments->get_object() : JsonObject());
}

RpcResult ClientConnection::Impl::Complete(const JsonObject& params, const CallContext& call) {
  const Json* ref = Find(params, "ref");
  const Json* argument = Find(params, "argument");
  if (!ref || !ref->is_object()) return Fault(kInvalidParams, "/ref: must be an object");
  if (!argument || !argument->is_object())
    return Fault(kInvalidParams, "/argument: must be an object");
  const auto name = TextParam(argument->get_object(), "name");
  const auto value = TextParam(argument->get_object(), "value");
  if (!name || !value) return Fault(kInvalidParams, "/argument: needs the texts name and value");
  std::vector<std::string> found = catalog_.Complete(ref->get_object(), *name, *value, call);
  const std::size_t total = found.size();
  found.resize(std::min(total, kPage));
  return JsonObject{{"completion", JsonObject{{"values", JsonArray(found.begin(), found.end())},
                                              {"total", total},
                                              {"hasMore", total > kPage}}}};
}

RpcResult ClientConnection::Impl::SetLevel(const JsonObject& params, const CallContext&) {
  const auto level = TextParam(params, "level");
  if (!level) return tl::unexpected(level.error());
  const auto rank = LevelOf(*level);
  if (!rank)
    return Fault(kInvalidParams, fmt::format("/level: must be {}", OneOf(*level, kLevels)));
  const std::lock_guard lock(mutex_);
  log_level_ = rank;
  return JsonObject();
}

ClientConnection::ClientConnection(ServerOffer& catalog, Ticker& ticker, ConnectionOptions options)
    : impl_(std::make_shared<Impl>(catalog, ticker, std::move(options))) {
  impl_->Start();
}
ClientConnection::~ClientConnection() { CancelAll("the connection ended"); }
void ClientConnection::Handle(const RpcMessage& message, std::shared_ptr<Outlet> outlet) {
  impl_->Handle(message, std::move(outlet));
}
bool ClientConnection::busy() const { return impl_->busy(); }
void ClientConnection::CancelAll(const std::string& reason) { impl_->CancelAll(reason); }
Era ClientConnection::era() const { return impl_->era(); }
std::string ClientConnection::version() const { return impl_->version(); }

}  // namespace dossier::mcp
