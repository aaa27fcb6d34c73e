#include "evaluation/run/proxy.h"

#include <fcntl.h>
#include <unistd.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/cancel.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "base/net/http_get.h"
#include "base/net/http_listener.h"
#include "base/random.h"
#include "base/task_group.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::evaluation {
namespace {

// Poll interval for clients that hung up.
constexpr Millis kGonePoll{50};
constexpr std::size_t kMostReply = 256u << 20;  // bytes kept of a reply to read its usage
constexpr std::string_view kChat = "/chat/completions";

HttpResponse ErrorReply(int status, std::string_view code, std::string_view message) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}},
          .body = ToJson(JsonObject{
              {"error", JsonObject{{"message", message}, {"type", code}, {"code", code}}}})};
}

// Returns the usage that a reply reports; unset: none.
std::optional<RowTokens> UsageIn(const Json& value) {
  const Json* usage = Find(value, "usage");
  if (usage == nullptr || !usage->is_object()) return std::nullopt;
  // The two formats of OpenAI's API: chat completions and responses.
  const auto input = FindInt(*usage, "prompt_tokens");
  RowTokens tokens{.input = input ? *input : FindInt(*usage, "input_tokens").value_or(0)};
  const auto output = FindInt(*usage, "completion_tokens");
  tokens.output = output ? *output : FindInt(*usage, "output_tokens").value_or(0);
  for (const char* name : {"prompt_tokens_details", "input_tokens_details"}) {
    if (const Json* details = Find(*usage, name)) {
      tokens.cached = FindInt(*details, "cached_tokens").value_or(0);
    }
  }
  return tokens;
}

// Returns the text of a whole reply or of a stream event.
std::string TextIn(const Json& value) {
  const Json* choices = Find(value, "choices");
  if (choices == nullptr || !choices->is_array()) return TextAt(value, "delta");
  std::string text;
  for (const Json& choice : choices->get_array()) {
    for (const char* name : {"message", "delta"}) {
      if (const Json* part = Find(choice, name)) text += TextAt(*part, "content");
    }
  }
  return text;
}

// Splits a stream into whole events, and reads each.
class StreamReader {
 public:
  explicit StreamReader(bool drop_usage) : drop_usage_(drop_usage) {}

  // Returns the bytes of `piece` and of held data that are passed on to the client.
  std::string Take(std::string_view piece) {
    waiting_ += piece;
    std::string out;
    while (true) {
      std::size_t end = waiting_.find("\n\n"), length = 2;
      if (const std::size_t wide = waiting_.find("\r\n\r\n"); wide < end) end = wide, length = 4;
      if (end == std::string::npos) break;
      const std::string_view event = std::string_view(waiting_).substr(0, end + length);
      if (Goes(event)) out += event;
      waiting_.erase(0, end + length);
    }
    return out;
  }
  std::string Rest() { return std::exchange(waiting_, {}); }

  const std::string& text() const { return text_; }
  const std::optional<RowTokens>& usage() const { return usage_; }

 private:
  bool Goes(std::string_view event) {
    const std::size_t data = event.find("data:");
    if (data == std::string_view::npos) return true;
    const auto value = ParseJson(TrimSpace(event.substr(data + 5)));
    if (!value) return true;
    if (text_.size() < kMostReply) text_ += TextIn(*value);
    const auto usage = UsageIn(*value);
    if (usage) usage_ = usage;
    const Json* choices = Find(*value, "choices");
    const bool only_usage =
        usage && choices != nullptr && choices->is_array() && choices->get_array().empty();
    return !(drop_usage_ && only_usage);
  }

  const bool drop_usage_;
  std::string waiting_, text_;
  std::optional<RowTokens> usage_;
};

// Shared by the proxy, its questions and the requests in progress.
struct Busy {
  std::mutex mutex;
  std::condition_variable changed;
  int requests = 0;
};

// All traffic through the URL of one question.
struct Ledger {
  ModelUpstream upstream;
  QuestionRules rules;
  std::string cold_line;
  CancelSource ended;

  std::mutex mutex;
  Traffic traffic;
  int open = 0;
  std::condition_variable changed;
  UniqueFd transcript;

  void Write(const JsonObject& line) {
    if (transcript.valid()) (void)WriteAll(transcript.get(), ToJson(line) + "\n").has_value();
  }
};

// One request of one question, on its own thread.
class Relay {
 public:
  Relay(std::shared_ptr<HttpLoop> loop, std::shared_ptr<Ledger> ledger,
        std::shared_ptr<HttpExchange> exchange, std::string path,
        const std::function<std::int64_t(std::string_view)>& count)
      : loop_(std::move(loop)),
        ledger_(std::move(ledger)),
        exchange_(std::move(exchange)),
        path_(std::move(path)),
        count_(count),
        stop_(ledger_->ended.token()) {}

  // For the watcher, which calls it from another thread.
  void StopIfGone() {
    const std::lock_guard lock(mutex_);
    if (!done_ && exchange_->client_gone()) stop_.Cancel("the client hung up");
  }

  void Run() {
    const std::string refusal = Admit();
    if (refusal.empty()) {
      Forward();
    } else {
      Note(400, refusal);
    }
    const std::lock_guard lock(mutex_);
    done_ = true;
  }

 private:
  // Returns why the request is refused, as sent to the client; empty: it is passed on.
  std::string Admit() {
    const auto body = ParseJson(exchange_->request().body, 512);
    const std::string model = body ? TextAt(*body, "model") : "";
    if (model != ledger_->upstream.model) {
      std::string why = fmt::format("this question is for the model {}, not for \"{}\"",
                                    ledger_->upstream.model, model);
      Reply(ErrorReply(400, "eval_model", why));
      return why;
    }
    const std::lock_guard lock(ledger_->mutex);
    if (ledger_->traffic.calls >= ledger_->rules.calls) {
      ledger_->traffic.limit_met = true;
      std::string why =
          fmt::format("the limit of {} calls for this question is met", ledger_->rules.calls);
      Reply(ErrorReply(400, "eval_limit", why));
      return why;
    }
    ++ledger_->traffic.calls;
    return "";
  }

  // A connection is never written to while the watcher checks it.
  void Reply(HttpResponse response) {
    const std::lock_guard lock(mutex_);
    done_ = true;
    exchange_->Reply(std::move(response));
  }

  HttpCall CallUpstream() {
    HttpCall call{.url = ledger_->upstream.base_url + path_,
                  .headers = ledger_->upstream.headers,
                  .body = CompleteBody(exchange_->request().body, ledger_->rules,
                                       ledger_->cold_line, &usage_added_),
                  .deadline = ledger_->rules.time,
                  .idle_limit = ledger_->rules.time};
    call.headers.emplace_back("Content-Type: application/json");
    sent_ = call.body;
    return call;
  }

  void Forward() {
    HttpDownload download(loop_, CallUpstream(), stop_.token());
    const auto head = download.ReadHead();
    if (!head) return Fail(head.error().message);
    const std::string_view type = (*head)->Header("content-type");
    const bool stream = (*head)->status == 200 && type.starts_with("text/event-stream");
    HttpHeaders headers;
    for (const char* name : {"content-type", "retry-after"}) {
      if (const auto value = (*head)->Header(name); !value.empty())
        headers.emplace_back(name, value);
    }
    stream ? Stream(download, std::move(headers))
           : Whole(download, (*head)->status, std::move(headers));
  }

  void Whole(HttpDownload& download, int status, HttpHeaders headers) {
    std::string body;
    while (true) {
      auto piece = download.Read();
      if (!piece) return Fail(piece.error().message);
      if (piece->empty()) break;
      body += *piece;
      if (body.size() > kMostReply) return Fail("the model's reply is larger than 256 MiB");
    }
    const auto value = ParseJson(body, 512);
    Reply({.status = status, .headers = std::move(headers), .body = body});
    if (status == 200) {
      Count(value ? UsageIn(*value) : std::nullopt, value ? TextIn(*value) : body);
    } else {
      CountFailure(status, body);
    }
    Note(status, body);
  }

  void Stream(HttpDownload& download, HttpHeaders headers) {
    StreamReader reader(usage_added_);
    exchange_->SendHead(200, std::move(headers));
    std::string failure;
    while (true) {
      auto piece = download.Read();
      if (!piece) failure = piece.error().message;
      if (!piece || piece->empty()) break;
      if (!exchange_->SendChunk(reader.Take(*piece))) {
        failure = "the client hung up";
        break;
      }
    }
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
      if (failure.empty()) {
        (void)exchange_->SendChunk(reader.Rest()).has_value();
        exchange_->Finish();
      } else {
        exchange_->Abort();
      }
    }
    Count(reader.usage(), reader.text());
    if (!failure.empty()) CountFailure(0, failure);
    Note(200, reader.text());
  }

  void Fail(const std::string& why) {
    Reply(ErrorReply(502, "eval_upstream", why));
    CountFailure(0, why);
    Note(502, why);
  }

  void Count(const std::optional<RowTokens>& usage, std::string_view reply) {
    RowTokens tokens = usage.value_or(RowTokens{.counted = true});
    if (!usage) {
      tokens.input = count_(sent_);
      tokens.output = count_(reply);
    }
    const std::lock_guard lock(ledger_->mutex);
    RowTokens& sum = ledger_->traffic.tokens;
    sum.input += tokens.input;
    sum.cached += tokens.cached;
    sum.output += tokens.output;
    sum.counted = sum.counted || tokens.counted;
  }

  void CountFailure(int status, std::string_view body) {
    const std::lock_guard lock(ledger_->mutex);
    Traffic& traffic = ledger_->traffic;
    const std::string lower = ToLowerAscii(body.substr(0, 4096));
    const bool too_long =
        status == 413 || (status == 400 && lower.find("context") != lower.npos &&
                          (lower.find("length") != lower.npos || lower.find("size") != lower.npos ||
                           lower.find("exceed") != lower.npos));
    if (too_long) ++traffic.context_refused;
    if (status == 0 || status == 429 || status >= 500) ++traffic.failed;
    traffic.failure = status == 0 ? std::string(body)
                                  : fmt::format("status {}: {}", status, utf8::Prefix(body, 200));
  }

  void Note(int status, std::string_view reply) {
    const std::lock_guard lock(ledger_->mutex);
    if (!ledger_->transcript.valid()) return;
    const std::string& text = sent_.empty() ? exchange_->request().body : sent_;
    auto body = ParseJson(text, 512);
    auto said = ParseJson(reply, 512);
    ledger_->Write({{"path", path_},
                    {"request", body ? std::move(*body) : Json(utf8::Sanitize(text))},
                    {"status", status},
                    {"reply", said ? std::move(*said) : Json(utf8::Sanitize(reply))}});
  }

  const std::shared_ptr<HttpLoop> loop_;
  const std::shared_ptr<Ledger> ledger_;
  const std::shared_ptr<HttpExchange> exchange_;
  const std::string path_;
  const std::function<std::int64_t(std::string_view)>& count_;
  CancelSource stop_;
  std::mutex mutex_;
  bool done_ = false, usage_added_ = false;
  std::string sent_;
};

class Question final : public ProxyQuestion {
 public:
  Question(std::string url, std::shared_ptr<Ledger> ledger, std::function<void()> forget)
      : url_(std::move(url)), ledger_(std::move(ledger)), forget_(std::move(forget)) {}
  ~Question() override { Close(); }

  const std::string& url() const override { return url_; }

  Traffic Close() override {
    if (forget_) std::exchange(forget_, nullptr)();
    ledger_->ended.Cancel("the question has ended");
    std::unique_lock lock(ledger_->mutex);
    ledger_->changed.wait(lock, [this] { return ledger_->open == 0; });
    return ledger_->traffic;
  }

 private:
  const std::string url_;
  const std::shared_ptr<Ledger> ledger_;
  std::function<void()> forget_;
};

class RecordingProxy final : public Proxy {
 public:
  RecordingProxy(ProxyOptions options, std::shared_ptr<HttpLoop> loop)
      : options_(std::move(options)), loop_(std::move(loop)) {
    if (!options_.count) {
      options_.count = [](std::string_view text) {
        return static_cast<std::int64_t>((text.size() + 3) / 4);
      };
    }
    watcher_ = std::thread([this] { Watch(); });
  }
  ~RecordingProxy() override {
    stop_.Cancel("the proxy ends");
    listener_.reset();
    relays_.Join();
    watcher_.join();
  }

  Status Listen() {
    auto listener = HttpListener::Start(
        {.port = options_.port, .threads = 4},
        [this](std::shared_ptr<HttpExchange> exchange) { Handle(std::move(exchange)); });
    if (!listener) return tl::unexpected(listener.error());
    listener_ = std::move(*listener);
    return {};
  }

  std::unique_ptr<ProxyQuestion> Open(const ModelUpstream& upstream, const QuestionRules& rules,
                                      const std::string& transcript) override {
    auto ledger = std::make_shared<Ledger>();
    ledger->upstream = upstream;
    ledger->rules = rules;
    if (rules.cache == QuestionRules::Cache::kCold) ledger->cold_line = RandomHex(16) + "\n";
    if (!transcript.empty()) {
      ledger->transcript = UniqueFd(
          open(transcript.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    }
    const std::string id = RandomHex(24);
    const std::lock_guard lock(mutex_);
    questions_[id] = ledger;
    return std::make_unique<Question>(
        fmt::format("http://127.0.0.1:{}/q/{}/v1", listener_->port(), id), ledger, [this, id] {
          const std::lock_guard forgetting(mutex_);
          questions_.erase(id);
        });
  }

  void WaitUntilIdle() override {
    std::unique_lock lock(busy_.mutex);
    busy_.changed.wait(lock, [this] { return busy_.requests == 0; });
  }

 private:
  void Handle(std::shared_ptr<HttpExchange> exchange) {
    // "/q/ID/v1/chat/completions"
    const std::vector<std::string_view> parts = Split(exchange->request().target, '/');
    std::shared_ptr<Ledger> ledger;
    if (parts.size() > 4 && parts[1] == "q" && parts[3] == "v1") {
      const std::lock_guard lock(mutex_);
      const auto found = questions_.find(parts[2]);
      if (found != questions_.end()) ledger = found->second;
    }
    if (!ledger) {
      return exchange->Reply(ErrorReply(404, "eval_address", "no question has this address"));
    }
    if (exchange->request().method == "GET") return SendModels(*exchange, *ledger);
    std::string path = exchange->request().target.substr(5 + parts[2].size() + 1);
    if (path != kChat && path != "/responses") {
      return exchange->Reply(ErrorReply(404, "eval_address", "only /chat/completions is here"));
    }
    {
      const std::lock_guard lock(ledger->mutex);
      ++ledger->open;
    }
    auto relay = std::make_shared<Relay>(loop_, ledger, std::move(exchange), std::move(path),
                                         options_.count);
    if (relays_.Run([this, relay, ledger] { RunRelay(relay, *ledger); })) return;
    const std::lock_guard lock(ledger->mutex);  // without a thread the client is hung up on
    --ledger->open;
    ledger->changed.notify_all();
  }

  static void SendModels(HttpExchange& exchange, const Ledger& ledger) {
    exchange.Reply(
        {.headers = {{"Content-Type", "application/json"}},
         .body = ToJson(JsonObject{{"object", "list"},
                                   {"data", JsonArray{JsonObject{{"id", ledger.upstream.model},
                                                                 {"object", "model"}}}}})});
  }

  void RunRelay(const std::shared_ptr<Relay>& relay, Ledger& ledger) {
    {
      const std::lock_guard lock(busy_.mutex);
      ++busy_.requests;
      active_.insert(relay);
    }
    relay->Run();
    {
      const std::lock_guard lock(busy_.mutex);
      --busy_.requests;
      active_.erase(relay);
      busy_.changed.notify_all();
    }
    const std::lock_guard lock(ledger.mutex);
    --ledger.open;
    ledger.changed.notify_all();
  }

  void Watch() {
    while (WaitUnlessCancelled(kGonePoll, stop_.token())) {
      std::set<std::shared_ptr<Relay>> active;
      {
        const std::lock_guard lock(busy_.mutex);
        active = active_;
      }
      for (const auto& relay : active) relay->StopIfGone();
    }
  }

  ProxyOptions options_;
  const std::shared_ptr<HttpLoop> loop_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Ledger>, std::less<>> questions_;
  Busy busy_;
  std::set<std::shared_ptr<Relay>> active_;  // under busy_.mutex
  TaskGroup relays_;
  CancelSource stop_;
  std::thread watcher_;
  std::unique_ptr<HttpListener> listener_;
};

// Inserts the random line before the first message that has text.
void PutColdLine(std::string_view line, JsonObject* body) {
  Json* messages = body->if_contains("messages");
  if (messages == nullptr || !messages->is_array()) return;
  for (Json& message : messages->get_array()) {
    if (!message.is_object()) continue;
    Json* content = message.get_object().if_contains("content");
    if (content == nullptr || !content->is_string()) continue;
    *content = std::string(line) + std::string(content->get_string());
    return;
  }
}

}  // namespace

std::string CompleteBody(std::string_view body, const QuestionRules& rules,
                         std::string_view cold_line, bool* usage_added) {
  *usage_added = false;
  auto value = ParseJson(body, 512);
  if (!value || !value->is_object()) return std::string(body);
  const JsonObject& given = value->get_object();
  JsonObject added;
  if (rules.temperature && !given.contains("temperature"))
    added["temperature"] = *rules.temperature;
  if (rules.seed && !given.contains("seed")) added["seed"] = *rules.seed;
  if (rules.max_tokens && !given.contains("max_tokens") &&
      !given.contains("max_completion_tokens") && !given.contains("max_output_tokens")) {
    added["max_tokens"] = *rules.max_tokens;
  }
  if (FindBool(*value, "stream").value_or(false) && given.contains("messages") &&
      !given.contains("stream_options")) {
    added["stream_options"] = JsonObject{{"include_usage", true}};
    *usage_added = true;
  }
  std::string whole(body);
  if (!cold_line.empty()) {
    PutColdLine(cold_line, &value->get_object());
    whole = ToJson(*value);
  }
  if (added.empty()) return whole;
  // After the opening brace: the system's own text stays unchanged.
  const std::size_t brace = whole.find('{');
  std::string fields = ToJson(added);
  fields = fields.substr(1, fields.size() - 2) + (given.empty() ? "" : ",");
  return whole.insert(brace + 1, fields);
}

Result<std::unique_ptr<Proxy>> Proxy::Start(ProxyOptions options) {
  DOSSIER_ASSIGN_OR_RETURN(auto loop, HttpLoop::Make());
  auto proxy = std::make_unique<RecordingProxy>(std::move(options), std::move(loop));
  DOSSIER_RETURN_IF_ERROR(proxy->Listen());
  return proxy;
}

}  // namespace dossier::evaluation
