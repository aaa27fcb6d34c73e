#include "server/mcp/client.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
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
constexpr std::size_t kMostPages = 100;
constexpr std::uint64_t kMostTrustBytes = 16u << 20;

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

class JailedClient final : public ToolServer {
 public:
  explicit JailedClient(ServerSpec spec) : spec_(std::move(spec)) {}
  ~JailedClient() override {
    stop_.Cancel("its client is gone");
    if (thread_.joinable()) thread_.join();  // it writes refusals, so the pipe ends after it
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

  Result<JsonArray> Tools(const CancelToken& cancel) override {
    JsonArray all;
    JsonObject params;
    for (std::size_t page = 0; page < kMostPages; ++page) {
      DOSSIER_ASSIGN_OR_RETURN(const Json result,
                               Request("tools/list", params, spec_.timeout, cancel));
      const Json* tools = Find(result, "tools");
      if (!tools || !tools->is_array()) return Broken("its list of tools is none");
      for (const Json& tool : tools->get_array()) {
        if (!tool.is_object() || TextAt(tool, "name").empty()) return Broken("a tool has no name");
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
      return MakeError(ErrorCode::kFailed, "{}: {}: {}", spec_.name, name, text);
    }
    const Json* value = Find(result, "structuredContent");
    return ToolResult{.value = value ? *value : Json(text)};
  }

 private:
  tl::unexpected<Error> Broken(std::string_view why) const {
    return MakeError(ErrorCode::kProtocol, "{}: {}", spec_.name, why);
  }

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
    buffer_ += bytes;
    for (std::size_t end = buffer_.find('\n'); end != buffer_.npos; end = buffer_.find('\n')) {
      Take(std::string_view(buffer_).substr(0, end));
      buffer_.erase(0, end + 1);
    }
    if (buffer_.size() <= kMostAnswer) return;
    {
      const std::lock_guard lock(mutex_);
      ended_ = Error{ErrorCode::kTooLong, fmt::format("{}: an answer has more than {}", spec_.name,
                                                      FormatSize(kMostAnswer))};
      changed_.notify_all();
    }
    stop_.Cancel("its answer is too long");
  }

  // Sends one line whole: lines of several threads must not mix.
  Status Put(const std::string& line, Clock::Steady until, const CancelToken& cancel) {
    std::unique_lock lock(writing_, std::defer_lock);
    if (!lock.try_lock_until(until)) return MakeError(ErrorCode::kTimeout, "it reads nothing");
    return WriteWithin(to_server_.get(), line, until, cancel);
  }

  // Handles one line of the server. Ignores a line that is no message.
  void Take(std::string_view line) {
    const RpcMessages read = ReadMessages(line);
    if (!read.list[0]) return;
    const RpcMessage& message = *read.list[0];
    if (message.kind == RpcMessage::Kind::kRequest) {
      const std::string refusal =
          ErrorText(message.id, {kMethodNotFound, "this client takes no requests"}) + "\n";
      (void)Put(refusal, steady_clock::now() + Millis(100), {});
      return;
    }
    if (message.kind != RpcMessage::Kind::kResponse || !message.id.is_int64()) return;
    auto value = ParseJson(line, 200);
    const std::lock_guard lock(mutex_);
    const auto waits = answers_.find(message.id.get_int64());
    if (waits != answers_.end() && value) waits->second = std::move(*value);
    changed_.notify_all();
  }

  Result<Json> Request(std::string_view method, JsonObject params, Millis limit,
                       const CancelToken& cancel) {
    DOSSIER_ASSIGN_OR_RETURN(const Json answer, Exchange(method, std::move(params), limit, cancel));
    if (const Json* result = Find(answer, "result")) return *result;
    const Json* error = Find(answer, "error");
    return Broken(fmt::format("{}: {}", method, error ? TextAt(*error, "message") : "no result"));
  }

  // Returns the whole answer, including an error answer.
  Result<Json> Exchange(std::string_view method, JsonObject params, Millis limit,
                        const CancelToken& cancel) {
    if (modern_) {
      params["_meta"] =
          JsonObject{{kMetaVersion, kModernVersion}, {kMetaCapabilities, JsonObject()}};
    }
    const auto until = steady_clock::now() + limit;
    std::unique_lock lock(mutex_);
    const std::int64_t id = ++last_id_;
    answers_[id];
    lock.unlock();
    Json message =
        JsonObject{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
    const Status put = Put(ToJson(message) + "\n", until, cancel);
    const std::uint64_t wake = cancel.OnCancel([this] {
      const std::lock_guard guard(mutex_);
      changed_.notify_all();
    });
    lock.lock();
    if (put) {
      changed_.wait_until(lock, until,
                          [&] { return answers_[id] || ended_ || cancel.cancelled(); });
    }
    std::optional<Json> answer = std::move(answers_[id]);
    answers_.erase(id);
    const std::optional<Error> ended = ended_;
    lock.unlock();
    cancel.Forget(wake);
    if (answer) return *answer;
    if (ended) return tl::unexpected(*ended);
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    if (!put) return Broken(put.error().message);
    return MakeError(ErrorCode::kTimeout, "{}: no answer to {} within {} ms", spec_.name, method,
                     limit.count());
  }

  // Determines the server's era.
  Status Greet(const CancelToken& cancel) {
    modern_ = true;
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
    modern_ = false;
    DOSSIER_ASSIGN_OR_RETURN(
        const Json hello,
        Request("initialize",
                {{"protocolVersion", kNewestHandshake},
                 {"capabilities", JsonObject()},
                 {"clientInfo", JsonObject{{"name", "dossier"}, {"version", "1"}}}},
                spec_.timeout, cancel));
    if (!IsHandshakeVersion(TextAt(hello, "protocolVersion"))) {
      return Broken("it speaks no revision that is known here");
    }
    return Put(NotificationText("notifications/initialized", {}) + "\n",
               steady_clock::now() + spec_.timeout, cancel);
  }

  const ServerSpec spec_;
  UniqueFd to_server_;
  std::timed_mutex writing_;  // held while one line is sent
  CancelSource stop_;
  bool modern_ = false;  // set before the first call
  std::string buffer_;   // used by the server's thread, as is the next
  std::string last_words_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<std::int64_t, std::optional<Json>> answers_;
  std::int64_t last_id_ = 0;
  std::optional<Error> ended_;
  std::thread thread_;
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
    constexpr std::string_view kKnown[] = {"argv", "env", "tools", "timeout", "read", "network"};
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
    if (spec.argv.empty()) return wrong("argv is missing: the program and its arguments");
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

Result<std::unique_ptr<ToolServer>> ToolServer::Connect(const ServerSpec& spec,
                                                        const CancelToken& cancel) {
  auto client = std::make_unique<JailedClient>(spec);
  DOSSIER_RETURN_IF_ERROR(client->Start(cancel));
  return client;
}

Status CheckTrusted(const std::string& folder, const ServerSpec& spec, const JsonArray& tools) {
  DOSSIER_ASSIGN_OR_RETURN(const JsonObject all, ReadTrusted(folder));
  const Json* known = Find(all, spec.name);
  std::map<std::string, std::string> before;
  if (known && known->is_array()) before = HashesOf(known->get_array());
  const auto now = HashesOf(tools);
  if (known && before == now) return {};
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
