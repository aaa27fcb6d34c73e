#include "model/providers/provider_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "base/net/http_loop.h"
#include "base/net/sse.h"
#include "base/net/url.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "model/client/client.h"
#include "model/client/http_failure.h"
#include "model/dialects/wire.h"

namespace dossier::model {
namespace {

// Error bodies are read this far: enough to say what was wrong.
constexpr std::size_t kMostErrorBytes = 64 << 10;
constexpr std::int64_t kBytesPerToken = 8;  // at most, on average over a text

// Takes the key out of a text that comes in pieces: what may be the start of it waits for the next
// one.
class KeyFilter {
 public:
  explicit KeyFilter(std::string_view key) : key_(key.size() < kShortestSecret ? "" : key) {}

  std::string Push(std::string_view piece) {
    if (key_.empty()) return std::string(piece);
    waiting_ += piece;
    std::string out;
    for (std::size_t at; (at = waiting_.find(key_)) != waiting_.npos;) {
      out.append(waiting_, 0, at).append(kInsteadOfKey);
      waiting_.erase(0, at + key_.size());
    }
    std::size_t kept = std::min(waiting_.size(), key_.size() - 1);
    while (!key_.starts_with(std::string_view(waiting_).substr(waiting_.size() - kept))) --kept;
    out.append(waiting_, 0, waiting_.size() - kept);
    waiting_.erase(0, waiting_.size() - kept);
    return out;
  }

  bool takes_out() const { return !key_.empty(); }
  // What still waits: it was no key.
  std::string Finish() { return std::exchange(waiting_, {}); }

  std::string Whole(std::string_view text) const {
    return key_.empty() ? std::string(text) : ReplaceAll(text, key_, kInsteadOfKey);
  }

  // In the texts and names inside of a value.
  Json Whole(const Json& value) const {
    if (key_.empty() || value.is_null()) return value;
    const std::string escaped = ToJson(Json(key_));
    const auto text = ToJson(value);
    auto clean = ParseJson(ReplaceAll(text, escaped.substr(1, escaped.size() - 2), kInsteadOfKey));
    return clean ? std::move(*clean) : value;
  }

 private:
  const std::string key_;  // empty: nothing is taken out
  std::string waiting_;
};

// "Name: value" as `headers` hold it.
bool HasName(std::string_view header, std::string_view name) {
  return header.size() > name.size() && header[name.size()] == ':' &&
         ToLowerAscii(header.substr(0, name.size())) == ToLowerAscii(name);
}

// What decides about the key, the form of the request, or where one ends and the next begins.
constexpr std::string_view kOurs[] = {
    "authorization", "proxy-authorization", "x-api-key",         "x-goog-api-key", "api-key",
    "host",          "content-length",      "transfer-encoding", "connection",     "expect"};

bool IsOurs(std::string_view name, const std::vector<std::string>& sent) {
  const std::string lower = ToLowerAscii(name);
  return std::find(std::begin(kOurs), std::end(kOurs), lower) != std::end(kOurs) ||
         std::any_of(sent.begin(), sent.end(),
                     [name](const std::string& header) { return HasName(header, name); });
}

// A line break would begin another header.
bool IsOneHeader(std::string_view name, std::string_view value) {
  constexpr std::string_view kToken =
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";  // RFC 9110
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  };
  return !name.empty() && name.find_first_not_of(kToken) == name.npos &&
         std::none_of(value.begin(), value.end(), is_control);
}

// What every request carries: the client's own headers, then those of `options`.
Result<std::vector<std::string>> HeadersFor(const WireDialect& dialect,
                                            const ProviderOptions& options, Streaming stream) {
  std::vector<std::string> headers = dialect.headers(options.key);
  headers.insert(headers.end(), {"Content-Type: application/json", "User-Agent: dossier"});
  headers.push_back(stream == Streaming::kYes ? "Accept: text/event-stream, application/json"
                                              : "Accept: application/json");
  const std::vector<std::string> own = headers;
  for (const auto& [name, value] : options.headers) {
    if (!IsOneHeader(name, value)) {
      return MakeError(ErrorCode::kConfig,
                       "extra_headers: '{}' is no header of one line (letters, digits and - in its "
                       "name, no line break in its value)",
                       utf8::CleanForTerminal(name));
    }
    if (IsOurs(name, own)) {
      return MakeError(ErrorCode::kConfig,
                       "extra_headers: {} is not for you to set; a key comes from key_env, "
                       "key_file or key_cmd",
                       name);
    }
    headers.push_back(fmt::format("{}: {}", name, value));
  }
  return headers;
}

// One request: turns bytes of the wire into calls of the sink. On the loop's thread.
class Receiver final : public HttpReceiver {
 public:
  Receiver(const WireDialect& dialect, std::shared_ptr<const Request> request,
           std::shared_ptr<Sink> sink, std::shared_ptr<const ProviderOptions> options,
           std::vector<std::string> warnings)
      : dialect_(dialect),
        request_(std::move(request)),
        sink_(std::move(sink)),
        options_(std::move(options)),
        warnings_(std::move(warnings)),
        key_(options_->key),
        events_(kMaxReplyBytes),
        stream_(dialect.stream()) {}

  void OnHead(int status, std::vector<std::pair<std::string, std::string>> headers) override {
    answer_.status = status;
    answer_.headers = std::move(headers);
    for (const auto& [name, value] : answer_.headers) {
      if (name == "content-type") {
        streamed_ = ToLowerAscii(value).find("text/event-stream") != value.npos;
      }
    }
    streamed_ = streamed_ && status >= 200 && status < 300;
  }

  Result<Flow> OnBody(std::string_view bytes) override {
    total_ += bytes.size();
    if (total_ > kMaxReplyBytes) {
      return MakeError(ErrorCode::kNetwork, "malformed reply: larger than 64 MiB");
    }
    if (!streamed_) {
      const std::size_t most = Good() ? kMaxReplyBytes : kMostErrorBytes;
      answer_.body.append(bytes.substr(0, most - std::min(most, answer_.body.size())));
      return Flow::kGo;
    }
    if (answer_.body.size() < 512) answer_.body.append(bytes.substr(0, 512));  // for messages
    DOSSIER_RETURN_IF_ERROR(
        Events(events_.Feed(bytes, [this](const SseEvent& event) { Take(event); })));
    // Some servers keep the connection open behind the end of a reply, for ever.
    if (!delivered_ && stream_->closed() && stream_->finished()) {
      delivered_ = true;
      Streamed({});
    }
    return Flow::kGo;
  }

  void OnEnd(HttpEnd end) override {
    if (delivered_) return;
    sent_ = end.sent;
    broke_off_ = end.error.has_value();
    if (streamed_ && !end.error) {
      if (const Status last =
              Events(events_.Finish([this](const SseEvent& event) { Take(event); }));
          !last) {
        end.error = last.error();
      }
    }
    if (end.error && end.error->code == ErrorCode::kCancelled)
      return Cancelled(*end.error, end.sent);
    if (stream_->finished() || (streamed_ && stream_->started())) return Streamed(end);
    if (end.error) {
      const bool passes = broken_ && stream_->retry() == Failure::Retry::kYes;
      return Failed(*end.error, passes ? HttpEnd::Again::kYes : end.again);
    }
    if (answer_.status >= 300 && answer_.status < 400) return Redirected();
    if (!Good()) return Refused();
    if (streamed_) {
      return Failed({ErrorCode::kNetwork, Who() + ": the stream ended before any text"},
                    HttpEnd::Again::kYes);
    }
    Whole();
  }

 private:
  std::string Who() const { return options_->provider; }

  // The first failure of an event ends the transfer; text that came before it is kept.
  Status Events(Status fed) const {
    if (broken_) return tl::unexpected(*broken_);
    return fed;
  }

  void Take(const SseEvent& event) {
    if (broken_) return;
    auto text = stream_->Add(event.data);
    if (!text) {
      broken_ = text.error();
      return;
    }
    Show(key_.Push(*text));
    // Text past the limit is stopped by the gate, which sees text only.
    const std::int64_t cap = request_->sampling.max_output.value_or(0);
    const auto thought = static_cast<std::int64_t>(stream_->thinking_bytes());
    if (cap > 0 && thought / kBytesPerToken > MostTaken(cap)) {
      broken_ = Error{ErrorCode::kNetwork,
                      fmt::format("the server ignores the limit of {} tokens and was stopped while "
                                  "it was thinking",
                                  cap)};
    }
  }

  bool Good() const { return answer_.status >= 200 && answer_.status < 300; }

  void Show(const std::string& text) {
    if (!text.empty()) sink_->OnDelta(text);
  }

  // A server may send back what it was sent: the key goes into no journal, output or conversation.
  void TakeOutKey(Reply& reply) const {
    if (!key_.takes_out()) return;
    for (std::string* text : {&reply.text, &reply.thinking, &reply.raw, &reply.resolved_model}) {
      *text = key_.Whole(*text);
    }
    for (TokenChance& chance : reply.first_tokens) chance.token = key_.Whole(chance.token);
    for (ToolCall& call : reply.tool_calls) {
      call.id = key_.Whole(call.id);
      call.name = key_.Whole(call.name);
      call.arguments = key_.Whole(call.arguments);
      call.provider_data = key_.Whole(call.provider_data);
    }
    for (assembly::Block& block : reply.blocks) {
      for (std::string* text : {&block.text, &block.call_id, &block.tool_name}) {
        *text = key_.Whole(*text);
      }
      block.arguments = key_.Whole(block.arguments);
      block.provider_data = key_.Whole(block.provider_data);
    }
    reply.provider_data = key_.Whole(reply.provider_data);
    for (std::string& warning : reply.warnings) warning = Clean(warning);
  }

  void Done(Reply reply) {
    const bool may_call =
        !request_->messages.tools.empty() && request_->tool_use != Request::ToolUse::kNone;
    if (reply.finish == Finish::kToolCalls && !may_call) {
      reply.finish = Finish::kCut;
      reply.warnings.emplace_back("the reply was cut: it calls a tool, and none was offered");
    }
    reply.warnings.insert(reply.warnings.begin(), warnings_.begin(), warnings_.end());
    EstimateMissingUsage(*request_, &reply);
    reply.usage.cost_nano_usd = CostOf(reply.usage, options_->entry);
    if (reply.resolved_model.empty()) reply.resolved_model = request_->model;
    TakeOutKey(reply);
    sink_->OnDone(std::move(reply));
  }

  void Streamed(const HttpEnd& end) {
    Reply reply = stream_->Take();
    if (!stream_->finished()) {
      reply.warnings.push_back(end.error
                                   ? fmt::format("the reply was cut: {}", Clean(end.error->message))
                                   : "the reply was cut: the stream ended without a finish");
    }
    Show(key_.Finish());
    Done(std::move(reply));
  }

  void Whole() {
    auto reply = dialect_.parse(answer_.body);
    if (!reply) {
      std::vector<std::string> ignored;
      const auto value = ParseLenient(answer_.body, ignored);
      const auto reported = value ? FindReportedError(*value) : std::nullopt;
      const bool passes = reported && reported->retry == Failure::Retry::kYes;
      return Failed({reply.error().code,
                     fmt::format("{}, status {}: {}: {}", Who(), answer_.status,
                                 reply.error().message, Excerpt(answer_.body, options_->key))},
                    passes ? HttpEnd::Again::kYes : HttpEnd::Again::kNo);
    }
    Show(key_.Whole(reply->text));
    if (request_->raw == Request::Raw::kKept) reply->raw = std::move(answer_.body);
    Done(std::move(*reply));
  }

  // What was never sent as a whole costs nothing.
  void Cancelled(const Error& error, HttpEnd::Sent sent) {
    Reply partial = stream_->Take();
    partial.usage.estimated = true;
    if (sent == HttpEnd::Sent::kYes) EstimateMissingUsage(*request_, &partial);
    partial.usage.cost_nano_usd = CostOf(partial.usage, options_->entry);
    sink_->OnFailure({.status = answer_.status, .usage = partial.usage});
    sink_->OnDone(tl::unexpected(error));
  }

  // What the server says that a failed request cost, and what of a whole reply arrived, if
  // anything.
  std::optional<Usage> Spent() {
    Reply partial = stream_->Take();
    std::vector<std::string> ignored;
    if (!streamed_) {
      if (const auto value = ParseLenient(answer_.body, ignored)) {
        dialect_.read_usage(*value, partial);
      } else if (Good() && broke_off_ && !answer_.body.empty()) {
        // Blanks are padding, no reply, and no body shows more than the reply may have had.
        partial.text = TrimSpace(answer_.body);
        EstimateMissingUsage(*request_, &partial);
        if (const auto cap = request_->sampling.max_output) {
          partial.usage.output = std::min(partial.usage.output, MostTaken(*cap));
        }
      }
    }
    if (partial.usage.input == 0 && partial.usage.output == 0) return std::nullopt;
    partial.usage.cost_nano_usd = CostOf(partial.usage, options_->entry);
    return partial.usage;
  }

  // A request that was not answered, or not in full. One that was refused cost nothing.
  bool MayHaveWorked() const {
    if (answer_.status == 0) return sent_ == HttpEnd::Sent::kYes;
    const auto value = ParseJson(streamed_ ? std::string_view() : answer_.body);
    return Good() && !stream_->retry() && !(value && FindReportedError(*value));
  }

  void Failed(const Error& error, HttpEnd::Again again) {
    sink_->OnFailure(
        {.retry = again == HttpEnd::Again::kYes ? Failure::Retry::kYes : Failure::Retry::kNo,
         .status = answer_.status,
         .usage = Spent(),
         .sent = MayHaveWorked() ? Failure::Sent::kYes : Failure::Sent::kNo});
    std::string message = error.message;
    if (message.find(Who()) == message.npos) message = Who() + ": " + message;
    if (streamed_ && error.code == ErrorCode::kNetwork && again == HttpEnd::Again::kNo) {
      message +=
          fmt::format(" (status {}): {}", answer_.status, Excerpt(answer_.body, options_->key));
    }
    sink_->OnDone(tl::unexpected(Error{error.code, Clean(message)}));
  }

  void Redirected() {
    std::string to = "another address";
    for (const auto& [name, value] : answer_.headers) {
      if (name != "location") continue;
      const auto url = ParseUrl(value);
      to = url ? url->origin() : Excerpt(value, options_->key);
    }
    Failed({ErrorCode::kNetwork,
            fmt::format("{} redirects to {} (status {}); redirects are not followed, because the "
                        "key is for one host only: give that address by --base-url",
                        Who(), to, answer_.status)},
           HttpEnd::Again::kNo);
  }

  void Refused() {
    HttpFailure failed = MapHttpFailure(
        answer_,
        {.provider = Who(),
         .model = request_->model,
         .key_source = options_->key_source,
         .key = options_->key,
         .models = options_->models,
         .window = options_->entry.capability.window,
         .prompt_tokens = request_->estimated_tokens,
         .way_out = request_->purpose == Purpose::kDirect ? " or ask recursively" : ""},
        std::chrono::system_clock::now());
    failed.failure.usage = Spent();
    sink_->OnFailure(failed.failure);
    sink_->OnDone(tl::unexpected(Error{failed.error.code, Clean(failed.error.message)}));
  }

  std::string Clean(std::string_view message) const {
    std::string clean = WithoutKey(message, options_->key);
    for (const auto& [name, value] : options_->headers) {
      if (value.size() >= kShortestSecret) clean = ReplaceAll(clean, value, "[redacted:header]");
    }
    return clean;
  }

  const WireDialect& dialect_;
  const std::shared_ptr<const Request> request_;
  const std::shared_ptr<Sink> sink_;
  const std::shared_ptr<const ProviderOptions> options_;
  const std::vector<std::string> warnings_;
  KeyFilter key_;
  ProviderAnswer answer_;
  SseParser events_;
  const std::unique_ptr<ReplyStream> stream_;
  std::optional<Error> broken_;
  std::size_t total_ = 0;
  bool streamed_ = false, broke_off_ = false;
  bool delivered_ = false;  // the sink has its reply; what the server still sends is nobody's
  HttpEnd::Sent sent_ = HttpEnd::Sent::kNo;
};

class ProviderClient final : public Client {
 public:
  ProviderClient(const WireDialect& dialect, ProviderOptions options, Streaming stream,
                 std::vector<std::string> headers, std::shared_ptr<HttpLoop> loop)
      : dialect_(dialect),
        options_(std::make_shared<const ProviderOptions>(std::move(options))),
        wire_{.entry = options_->entry, .provider = options_->provider, .stream = stream},
        headers_(std::move(headers)),
        loop_(std::move(loop)) {}

  void Submit(std::shared_ptr<const Request> request, CancelToken cancel,
              std::shared_ptr<Sink> sink) override {
    WireOptions options = wire_;
    if (request->raw == Request::Raw::kKept) options.stream = Streaming::kNo;
    WireRequest wire = dialect_.build(*request, options);
    HttpCall call{
        .url = AddressOf(dialect_, options_->base_url, *request, options.stream),
        .headers = headers_,
        .body = std::move(wire.body),
        .deadline = request->deadline,
        // A reply that comes whole is silent until it is there.
        .idle_limit = options.stream == Streaming::kYes ? request->idle_limit : request->deadline};
    auto receiver = std::make_shared<Receiver>(dialect_, std::move(request), std::move(sink),
                                               options_, NotSaidYet(std::move(wire.warnings)));
    loop_->Send(std::move(call), std::move(cancel), std::move(receiver));
  }

 private:
  // Each warning about what a model refuses is given once.
  std::vector<std::string> NotSaidYet(std::vector<std::string> warnings) {
    if (warnings.empty()) return warnings;
    std::lock_guard lock(mutex_);
    std::erase_if(warnings, [this](const std::string& text) { return !said_.insert(text).second; });
    return warnings;
  }

  const WireDialect& dialect_;
  const std::shared_ptr<const ProviderOptions> options_;
  const WireOptions wire_;
  const std::vector<std::string> headers_;
  std::mutex mutex_;
  std::set<std::string> said_;
  const std::shared_ptr<HttpLoop> loop_;
};

}  // namespace

Result<std::shared_ptr<Client>> MakeProviderClient(ProviderOptions options) {
  DOSSIER_RETURN_IF_ERROR(ParseUrl(options.base_url));
  const WireDialect* dialect = FindDialect(options.dialect);
  if (!dialect) {
    return MakeError(ErrorCode::kConfig, "provider {}: there is no dialect {}; it must be {}",
                     options.provider, options.dialect, OneOf(options.dialect, kDialectNames));
  }
  const Streaming stream = options.entry.streaming ? options.stream : Streaming::kNo;
  DOSSIER_ASSIGN_OR_RETURN(std::vector<std::string> headers, HeadersFor(*dialect, options, stream));
  DOSSIER_ASSIGN_OR_RETURN(auto loop, HttpLoop::Make());
  return std::make_shared<ProviderClient>(*dialect, std::move(options), stream, std::move(headers),
                                          std::move(loop));
}

}  // namespace dossier::model
