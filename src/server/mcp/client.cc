#include "server/mcp/client.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/net/http_get.h"
#include "base/net/sse.h"
#include "base/net/url.h"
#include "base/text/ascii.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "base/yaml/yaml.h"
#include "model/schema/json_schema.h"
#include "sandbox/jail/jail.h"
#include "server/mcp/connection.h"
#include "server/mcp/message.h"

namespace dossier::mcp {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMostAnswer = 10u << 20;  // bytes of one line
constexpr Millis kProbe{5'000};                 // for a server that ignores discover
constexpr int kMostRefusals = 16;
constexpr Millis kRefusal{1'000};               // for telling a server what it gets no answer to
constexpr std::size_t kMostPages = 100;
constexpr std::uint64_t kMostTrustBytes = 16u << 20;
constexpr std::size_t kMostSaid = 2'000;  // characters of what a server says of a failure

std::string Shortened(std::string_view text) { return std::string(utf8::Prefix(text, kMostSaid)); }

// Writes in pieces as the descriptor allows: a server that does not read must block nobody.
Status WriteWithin(int fd, std::string_view bytes, Clock::Steady until, const CancelToken& cancel) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
      continue;
    }
    if (put < 0 && errno != EAGAIN && errno != EINTR) {
      return MakeError(ErrorCode::kDied, "it has ended");
    }
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    if (steady_clock::now() >= until) return MakeError(ErrorCode::kTimeout, "it reads nothing");
    pollfd entry{fd, POLLOUT, 0};
    poll(&entry, 1, 50);
  }
  return {};
}

// What both transports share: the era, the list of tools, the checks of a call.
class Client : public ToolServer {
 public:
  explicit Client(ServerSpec spec) : spec_(std::move(spec)) {}

  Result<JsonArray> Tools(const CancelToken& cancel) override {
    JsonArray all;
    JsonObject params;
    for (std::size_t page = 0; page < kMostPages; ++page) {
      DOSSIER_ASSIGN_OR_RETURN(const Json result,
                               Request("tools/list", params, spec_.timeout, cancel));
      const Json* tools = Find(result, "tools");
      if (!tools || !tools->is_array()) return Broken("its list of tools is none");
      for (const Json& tool : tools->get_array()) {
        const std::string name = tool.is_object() ? TextAt(tool, "name") : "";
        if (name.empty()) return Broken("a tool has no name");
        // A person is to trust the list that is shown: no name writes a line of its own.
        if (name != utf8::CleanForTerminal(name) || name.find_first_of("\n\t") != name.npos) {
          return Broken("the name of a tool has control characters");
        }
        all.push_back(tool);
      }
      const std::string next = TextAt(result, "nextCursor");
      if (next.empty()) return all;
      params = {{"cursor", next}};
    }
    return Broken("its list of tools does not end");
  }

  Result<ToolResult> Call(const Json& tool, const Json& arguments,
                          const CancelToken& cancel) override {
    const std::string name = TextAt(tool, "name");
    if (!MayUse(spec_, tool)) {
      return MakeError(ErrorCode::kRefused,
                       "{}: {} does not say that it only reads; name it in mcp_servers.{}.tools",
                       spec_.name, name, spec_.name);
    }
    const Json* schema = Find(tool, "inputSchema");
    auto compiled = model::JsonSchema::Compile(schema ? *schema : Json(JsonObject()));
    if (!compiled) {
      return MakeError(ErrorCode::kProtocol, "{}: {} has no schema that can be read: {}",
                       spec_.name, name, compiled.error().message);
    }
    const Json given = arguments.is_null() ? Json(JsonObject()) : arguments;
    for (const model::SchemaViolation& wrong : compiled->Check(given, 1)) {
      return MakeError(ErrorCode::kInvalidArgument, "{}: {}: {} {}", spec_.name, name,
                       wrong.pointer.empty() ? "/" : wrong.pointer, wrong.reason);
    }
    DOSSIER_ASSIGN_OR_RETURN(
        const Json result,
        Request("tools/call", {{"name", name}, {"arguments", given}}, spec_.timeout, cancel));
    std::string text;
    if (const Json* content = Find(result, "content"); content && content->is_array()) {
      for (const Json& part : content->get_array()) {
        if (TextAt(part, "type") != "text") continue;
        text += (text.empty() ? "" : "\n") + TextAt(part, "text");
      }
    }
    if (FindBool(result, "isError").value_or(false)) {
      return MakeError(ErrorCode::kFailed, "{}: {}: {}", spec_.name, name, Shortened(text));
    }
    const Json* value = Find(result, "structuredContent");
    return ToolResult{.value = value ? *value : Json(text)};
  }

 protected:
  tl::unexpected<Error> Broken(std::string_view why) const {
    return MakeError(ErrorCode::kProtocol, "{}: {}", spec_.name, why);
  }

  // Determines the server's era.
  Status Greet(const CancelToken& cancel) {
    era_ = Era::kModern;
    const auto found = Exchange("server/discover", {}, std::min(kProbe, spec_.timeout), cancel);
    if (!found && found.error().code != ErrorCode::kTimeout) return tl::unexpected(found.error());
    const Json* result = found ? Find(*found, "result") : nullptr;
    const Json* error = found ? Find(*found, "error") : nullptr;
    const Json* data = error ? Find(*error, "data") : nullptr;
    const auto speaks = [](const Json* list, auto wanted) {
      return std::ranges::any_of(StringsOf(list), wanted);
    };
    if (result && speaks(Find(*result, "supportedVersions"),
                         [](const std::string& one) { return one == kModernVersion; })) {
      return {};
    }
    if (error && FindInt(*error, "code") == kUnsupportedVersion && data &&
        !speaks(Find(*data, "supported"), IsHandshakeVersion)) {
      return Broken("it speaks no revision that is known here");
    }
    era_ = Era::kHandshake;
    DOSSIER_ASSIGN_OR_RETURN(
        const Json hello,
        Request("initialize",
                {{"protocolVersion", kNewestHandshake},
                 {"capabilities", JsonObject()},
                 {"clientInfo", JsonObject{{"name", "dossier"}, {"version", "1"}}}},
                spec_.timeout, cancel));
    version_ = TextAt(hello, "protocolVersion");
    if (!IsHandshakeVersion(version_)) return Broken("it speaks no revision that is known here");
    return Send(NotificationText("notifications/initialized", {}), spec_.timeout, cancel);
  }

  // Returns the whole answer, including an error answer.
  virtual Result<Json> Exchange(std::string_view method, JsonObject params, Millis limit,
                                const CancelToken& cancel) = 0;
  // Sends a message that gets no answer.
  virtual Status Send(const std::string& text, Millis limit, const CancelToken& cancel) = 0;

  std::string MessageText(std::int64_t id, std::string_view method, JsonObject params) const {
    if (era_ == Era::kModern) {
      params["_meta"] =
          JsonObject{{kMetaVersion, kModernVersion}, {kMetaCapabilities, JsonObject()}};
    }
    return ToJson(
        Json(JsonObject{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}));
  }

  // A server that goes on asking is not answered for ever.
  void Refuse(const RpcMessage& request) {
    if (++refused_ > kMostRefusals) return;
    (void)Send(ErrorText(request.id, {kMethodNotFound, "this client takes no requests"}), kRefusal,
               {});
  }

  Error TooLong() const {
    return {ErrorCode::kTooLong,
            fmt::format("{}: an answer has more than {}", spec_.name, FormatSize(kMostAnswer))};
  }
  Error Late(std::string_view method, Millis limit) const {
    return {ErrorCode::kTimeout,
            fmt::format("{}: no answer to {} within {} ms", spec_.name, method, limit.count())};
  }

  const ServerSpec spec_;
  std::atomic<int> refused_ = 0;  // requests of the server
  Era era_ = Era::kUndecided;  // set before the first call, as is the next
  std::string version_;        // of the handshake

 private:
  Result<Json> Request(std::string_view method, JsonObject params, Millis limit,
                       const CancelToken& cancel) {
    DOSSIER_ASSIGN_OR_RETURN(const Json answer, Exchange(method, std::move(params), limit, cancel));
    if (const Json* result = Find(answer, "result")) return *result;
    const Json* error = Find(answer, "error");
    return Broken(
        fmt::format("{}: {}", method, error ? Shortened(TextAt(*error, "message")) : "no result"));
  }
};

class JailedClient final : public Client {
 public:
  using Client::Client;
  ~JailedClient() override {
    {
      const std::lock_guard lock(writing_);
      to_server_.Reset();
    }
    stop_.Cancel("its client is gone");
    if (thread_.joinable()) thread_.join();
  }

  Status Start(const CancelToken& cancel) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return MakeErrnoError(errno, "a pipe");
    UniqueFd input(ends[0]);
    to_server_ = UniqueFd(ends[1]);
    fcntl(to_server_.get(), F_SETFL, O_NONBLOCK);
    thread_ = std::thread([this, input = std::move(input)] { RunServer(input.get()); });
    return Greet(cancel);
  }

 private:
  void RunServer(int input) {
    sandbox::JailSpec jail;
    jail.read = spec_.read;
    jail.folder = spec_.read.empty() ? "/" : spec_.read[0];
    jail.network = spec_.network ? sandbox::JailNetwork::kAny : sandbox::JailNetwork::kNone;
    jail.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/tmp"};
    for (const std::string& name : spec_.env) {
      if (const char* value = getenv(name.c_str())) jail.environment.push_back(name + "=" + value);
    }
    jail.input = input;
    jail.limits.wall.reset();
    const auto ended =
        sandbox::RunJailed(jail, spec_.argv,
                           {.on_output = [this](sandbox::Stream stream,
                                                std::string_view bytes) { Feed(stream, bytes); },
                            .cancel = stop_.token()});
    const std::lock_guard lock(mutex_);
    ended_ =
        ended ? Error{ErrorCode::kDied, fmt::format("{}: it has ended{}", spec_.name,
                                                    last_words_.empty() ? "" : ": " + last_words_)}
              : ended.error();
    changed_.notify_all();
  }

  void Feed(sandbox::Stream stream, std::string_view bytes) {
    if (stream == sandbox::Stream::kErr) {
      if (const auto line = FirstLine(bytes); !line.empty()) last_words_ = line.substr(0, 300);
      return;
    }
    for (std::size_t end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
      buffer_ += bytes.substr(0, end);
      if (!skips_) Take(buffer_);
      skips_ = false;
      buffer_.clear();
      bytes.remove_prefix(end + 1);
    }
    if (!skips_) buffer_ += bytes;
    if (buffer_.size() > kMostAnswer) SkipLine();
  }

  // Leaves out the rest of a line that is too long. It may answer any request that waits.
  void SkipLine() {
    skips_ = true;
    buffer_.clear();
    const std::lock_guard lock(mutex_);
    for (auto& [id, answer] : answers_) {
      if (!answer) answer = tl::unexpected(TooLong());
    }
    changed_.notify_all();
  }

  // Handles one line of the server. Ignores a line that is no message.
  void Take(std::string_view line) {
    const RpcMessages read = ReadMessages(line);
    if (!read.list[0]) return;
    const RpcMessage& message = *read.list[0];
    if (message.kind == RpcMessage::Kind::kRequest) return Refuse(message);
    if (message.kind != RpcMessage::Kind::kResponse || !message.id.is_int64()) return;
    auto value = ParseJson(line, 200);
    const std::lock_guard lock(mutex_);
    const auto waits = answers_.find(message.id.get_int64());
    if (waits != answers_.end() && value) waits->second = std::move(*value);
    changed_.notify_all();
  }

  // Writes a whole line: requests and refusals of several threads share one pipe.
  Status Send(const std::string& text, Millis limit, const CancelToken& cancel) override {
    const auto until = steady_clock::now() + limit;
    std::unique_lock lock(writing_, std::defer_lock);
    while (!lock.try_lock_for(Millis(50))) {
      if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
      if (steady_clock::now() >= until) return MakeError(ErrorCode::kTimeout, "it reads nothing");
    }
    if (!to_server_.valid()) return MakeError(ErrorCode::kDied, "it has ended");
    return WriteWithin(to_server_.get(), text + "\n", until, cancel);
  }

  Result<Json> Exchange(std::string_view method, JsonObject params, Millis limit,
                        const CancelToken& cancel) override {
    const auto until = steady_clock::now() + limit;
    std::unique_lock lock(mutex_);
    const std::int64_t id = ++last_id_;
    answers_[id];
    lock.unlock();
    const Status put = Send(MessageText(id, method, std::move(params)), limit, cancel);
    const std::uint64_t wake = cancel.OnCancel([this] {
      const std::lock_guard guard(mutex_);
      changed_.notify_all();
    });
    lock.lock();
    if (put) {
      changed_.wait_until(lock, until,
                          [&] { return answers_[id] || ended_ || cancel.cancelled(); });
    }
    std::optional<Result<Json>> answer = std::move(answers_[id]);
    answers_.erase(id);
    const std::optional<Error> ended = ended_;
    lock.unlock();
    cancel.Forget(wake);
    if (answer) return *std::move(answer);
    if (ended) return tl::unexpected(*ended);
    const std::string over = NotificationText("notifications/cancelled", {{"requestId", id}});
    if (put) (void)Send(over, kRefusal, {});
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    if (!put) return Broken(put.error().message);
    return tl::unexpected(Late(method, limit));
  }

  std::timed_mutex writing_;
  UniqueFd to_server_;  // guarded by `writing_`
  CancelSource stop_;
  std::string buffer_;  // used by the server's thread, as are the next two
  bool skips_ = false;  // the rest of the line
  std::string last_words_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<std::int64_t, std::optional<Result<Json>>> answers_;
  std::int64_t last_id_ = 0;
  std::optional<Error> ended_;
  std::thread thread_;
};

// Each request is a POST; its answer is JSON, or comes in an event stream.
class WebClient final : public Client {
 public:
  using Client::Client;

  Status Start(const CancelToken& cancel) {
    headers_ = {"Content-Type: application/json", "Accept: application/json, text/event-stream"};
    for (const auto& [header, variable] : spec_.header_env) {
      const char* value = getenv(variable.c_str());
      if (!value || !*value || std::string_view(value).find_first_of("\r\n") != std::string::npos) {
        return MakeError(ErrorCode::kConfig,
                         "mcp_servers.{}.header_env: the variable {} is not set, or is no line",
                         spec_.name, variable);
      }
      headers_.push_back(fmt::format("{}: {}", header, value));
    }
    DOSSIER_ASSIGN_OR_RETURN(loop_, HttpLoop::Make());
    return Greet(cancel);
  }

 private:
  HttpCall CallOf(std::string body, Millis limit) const {
    HttpCall call{.url = spec_.url,
                  .headers = headers_,
                  .body = std::move(body),
                  .deadline = limit,
                  .idle_limit = limit};
    if (!session_.empty()) call.headers.push_back("Mcp-Session-Id: " + session_);
    const std::string version(era_ == Era::kModern ? kModernVersion : version_);
    if (!version.empty()) call.headers.push_back("MCP-Protocol-Version: " + version);
    return call;
  }

  Result<Json> Exchange(std::string_view method, JsonObject params, Millis limit,
                        const CancelToken& cancel) override {
    const std::int64_t id = ++last_id_;
    const std::string name = TextAt(Json(params), "name");
    HttpCall call = CallOf(MessageText(id, method, std::move(params)), limit);
    if (era_ == Era::kModern) {
      call.headers.push_back(fmt::format("Mcp-Method: {}", method));
      const bool plain = std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7f; });
      if (!name.empty()) {
        call.headers.push_back(plain ? "Mcp-Name: " + name
                                     : fmt::format("Mcp-Name: =?base64?{}?=", Base64(name)));
      }
    }
    HttpDownload download(loop_, std::move(call), cancel);
    auto answer = ReadAnswer(download, id);
    if (answer) return answer;
    Error error = std::move(answer.error());
    if (error.code == ErrorCode::kTimeout) error = Late(method, limit);
    if (!error.message.starts_with(spec_.name)) error.message = spec_.name + ": " + error.message;
    return tl::unexpected(std::move(error));
  }

  Status Send(const std::string& text, Millis limit, const CancelToken& cancel) override {
    DOSSIER_RETURN_IF_ERROR(AskHttp(*loop_, CallOf(text, limit), kMostAnswer, cancel));
    return {};
  }

  Result<Json> ReadAnswer(HttpDownload& download, std::int64_t id) {
    DOSSIER_ASSIGN_OR_RETURN(const HttpDownload::Head* head, download.ReadHead());
    if (head->status / 100 == 3) {
      return Broken(fmt::format("it sends to another address, which is not followed: {}",
                                head->Header("location")));
    }
    if (head->status == 401 || head->status == 403) {
      return MakeError(ErrorCode::kAuth, "{}: status {}; mcp_servers.{}.header_env names its key",
                       spec_.name, head->status, spec_.name);
    }
    if (era_ == Era::kHandshake && version_.empty()) session_ = head->Header("mcp-session-id");
    const bool streams = head->Header("content-type").starts_with("text/event-stream");
    DOSSIER_ASSIGN_OR_RETURN(const auto answer,
                             streams ? ReadStream(download, id) : ReadWhole(download, id));
    if (answer) return *answer;
    // A server of another era may say no more than that.
    const std::string said = fmt::format("status {}, and no answer", head->status);
    return Json(JsonObject{{"error", JsonObject{{"code", 0}, {"message", said}}}});
  }

  Result<std::optional<Json>> ReadWhole(HttpDownload& download, std::int64_t id) {
    std::string body;
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string piece, download.Read());
      if (piece.empty()) return AnswerIn(body, id);
      body += piece;
      if (body.size() > kMostAnswer) return tl::unexpected(TooLong());
    }
  }

  Result<std::optional<Json>> ReadStream(HttpDownload& download, std::int64_t id) {
    SseParser parser(kMostAnswer);
    std::optional<Json> answer;
    const auto take = [&](const SseEvent& event) {
      if (!answer) answer = AnswerIn(event.data, id);
    };
    while (!answer) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string piece, download.Read());
      const Status fed = piece.empty() ? parser.Finish(take) : parser.Feed(piece, take);
      if (!fed) return tl::unexpected(TooLong());
      if (piece.empty()) break;
    }
    return answer;
  }

  // Refuses a request of the server; ignores what is no message.
  std::optional<Json> AnswerIn(std::string_view text, std::int64_t id) {
    const RpcMessages read = ReadMessages(text);
    if (!read.list[0]) return {};
    const RpcMessage& message = *read.list[0];
    if (message.kind == RpcMessage::Kind::kRequest) {
      Refuse(message);
      return {};
    }
    const bool ours =
        message.id.is_null() || (message.id.is_int64() && message.id.get_int64() == id);
    if (message.kind != RpcMessage::Kind::kResponse || !ours) return {};
    auto value = ParseJson(text, 200);
    return value ? std::optional<Json>(std::move(*value)) : std::nullopt;
  }

  std::vector<std::string> headers_;
  std::shared_ptr<HttpLoop> loop_;
  std::string session_;  // set by the handshake
  std::atomic<std::int64_t> last_id_{0};
};

std::map<std::string, std::string> HashesOf(const JsonArray& tools) {
  std::map<std::string, std::string> out;
  for (const Json& tool : tools) out[TextAt(tool, "name")] = Sha256Hex(ToJson(tool));
  return out;
}

std::string TrustFile(const std::string& folder) { return folder + "/mcp_servers.json"; }

Result<JsonObject> ReadTrusted(const std::string& folder) {
  auto text = ReadRegularFile(TrustFile(folder), kMostTrustBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return JsonObject();
  if (!text) return tl::unexpected(std::move(text).error());
  const auto value = ParseJson(*text);
  if (!value || !value->is_object()) {
    return MakeError(ErrorCode::kDamaged, "{} is damaged; remove it and trust again",
                     TrustFile(folder));
  }
  return value->get_object();
}

}  // namespace

bool MayUse(const ServerSpec& spec, const Json& tool) {
  const Json* hints = Find(tool, "annotations");
  return (hints && FindBool(*hints, "readOnlyHint").value_or(false)) ||
         std::ranges::find(spec.tools, TextAt(tool, "name")) != spec.tools.end();
}

Result<std::vector<ServerSpec>> ReadServerSpecs(const config::Config& config) {
  std::vector<ServerSpec> out;
  const auto section = config.sections.find("mcp_servers");
  if (section == config.sections.end()) return out;
  for (const YamlEntry& entry : section->second.node.entries) {
    const auto wrong = [&](std::string_view why) {
      return tl::unexpected(PlaceError(section->second.file, entry.line, entry.column,
                                       fmt::format("mcp_servers.{}: {}", entry.key, why)));
    };
    const Json about = ToJsonValue(entry.value);
    constexpr std::string_view kKnown[] = {"argv",  "url",     "env",  "header_env",
                                           "tools", "timeout", "read", "network"};
    if (!about.is_object()) return wrong("must be a map");
    for (const auto& [key, value] : about.get_object()) {
      if (std::ranges::find(kKnown, std::string_view(key)) != std::end(kKnown)) continue;
      return wrong(fmt::format("{} is no key; it must be {}", std::string_view(key),
                               OneOf(std::string_view(key), kKnown)));
    }
    ServerSpec spec{.name = entry.key,
                    .argv = StringsOf(Find(about, "argv")),
                    .env = StringsOf(Find(about, "env")),
                    .tools = StringsOf(Find(about, "tools")),
                    .read = StringsOf(Find(about, "read")),
                    .network = FindBool(about, "network").value_or(false)};
    spec.url = TextAt(about, "url");
    if (spec.argv.empty() == spec.url.empty()) {
      return wrong("either argv (the program and its arguments) or url is wanted");
    }
    if (const auto url = ParseUrl(spec.url); !spec.url.empty() && !url) {
      return wrong(url.error().message);
    }
    if (!spec.url.empty() && (!spec.env.empty() || !spec.read.empty() || spec.network)) {
      return wrong("env, read and network are about a program (argv)");
    }
    if (const Json* names = Find(about, "header_env")) {
      if (!names->is_object() || spec.url.empty()) {
        return wrong("header_env is a map of headers to variables, for a url");
      }
      for (const auto& [header, variable] : names->get_object()) {
        if (!std::ranges::all_of(header, [](char c) { return IsWordByte(c) || c == '-'; }) ||
            !variable.is_string()) {
          return wrong("header_env names for each header the variable that holds its value");
        }
        spec.header_env.emplace_back(header, variable.get_string());
      }
    }
    if (const Json* timeout = Find(about, "timeout")) {
      const auto time = ParseDuration(timeout->is_string() ? std::string(timeout->get_string())
                                                           : ToJson(*timeout));
      if (!time || time->count() <= 0) return wrong("timeout must be a time, such as 30s");
      spec.timeout = *time;
    }
    out.push_back(std::move(spec));
  }
  return out;
}

Result<ServerSpec> FindServerSpec(const config::Config& config, const std::string& name) {
  DOSSIER_ASSIGN_OR_RETURN(const auto specs, ReadServerSpecs(config));
  std::vector<std::string> names;
  for (const ServerSpec& spec : specs) {
    if (spec.name == name) return spec;
    names.push_back(spec.name);
  }
  return MakeError(ErrorCode::kNotFound, "mcp_servers has no {}{}", name, DidYouMean(name, names));
}

Result<std::unique_ptr<ToolServer>> ToolServer::Connect(const ServerSpec& spec, Network network,
                                                        const CancelToken& cancel) {
  if (spec.url.empty()) {
    ServerSpec within = spec;
    within.network = spec.network && network == Network::kAny;
    auto client = std::make_unique<JailedClient>(std::move(within));
    DOSSIER_RETURN_IF_ERROR(client->Start(cancel));
    return client;
  }
  DOSSIER_ASSIGN_OR_RETURN(const Url url, ParseUrl(spec.url));
  if (network == Network::kNone && !url.is_loopback()) {
    return MakeError(ErrorCode::kNetwork, "{}: --offline leaves {} alone", spec.name, url.host);
  }
  auto client = std::make_unique<WebClient>(spec);
  DOSSIER_RETURN_IF_ERROR(client->Start(cancel));
  return client;
}

Result<JsonArray> TrustedTools(const std::string& folder, const ServerSpec& spec) {
  DOSSIER_ASSIGN_OR_RETURN(const JsonObject all, ReadTrusted(folder));
  const Json* known = Find(all, spec.name);
  if (known && known->is_array()) return known->get_array();
  return MakeError(
      ErrorCode::kRefused,
      "the tools of {} are not trusted yet; look at them (dossier mcp servers show {}) "
      "and run: dossier mcp servers trust {}",
      spec.name, spec.name, spec.name);
}

Status CheckTrusted(const std::string& folder, const ServerSpec& spec, const JsonArray& tools) {
  DOSSIER_ASSIGN_OR_RETURN(const JsonArray known, TrustedTools(folder, spec));
  const auto before = HashesOf(known), now = HashesOf(tools);
  if (before == now) return {};
  std::vector<std::string> changes;
  for (const auto& [name, hash] : now) {
    const auto old = before.find(name);
    if (old == before.end()) changes.push_back("+ " + name);
    if (old != before.end() && old->second != hash) changes.push_back("~ " + name);
  }
  for (const auto& [name, hash] : before) {
    if (!now.contains(name)) changes.push_back("- " + name);
  }
  return MakeError(ErrorCode::kRefused,
                   "the tools of {} are not those that you trusted ({}); look at them and run: "
                   "dossier mcp servers trust {}",
                   spec.name, Join(changes, ", "), spec.name);
}

Status Trust(const std::string& folder, const ServerSpec& spec, const JsonArray& tools) {
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock,
                           FileLock::Take(TrustFile(folder) + ".lock", Millis(5'000), {}));
  DOSSIER_ASSIGN_OR_RETURN(JsonObject all, ReadTrusted(folder));
  all[spec.name] = tools;
  return WriteFileAtomic(TrustFile(folder), ToJson(all) + "\n", 0600);
}

}  // namespace dossier::mcp
