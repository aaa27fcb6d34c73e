#include "model/scripted/recording.h"

#include <fcntl.h>

#include <map>
#include <mutex>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "model/client/timer.h"

namespace dossier::model {
namespace {

constexpr std::uint64_t kMostBytes = 4ull << 30;

// A path with slashes identifies one request of a run in all runs of its kind ("NODE/draft/a1/r1").
// The request is found by that path, because its prompt contains run times and outputs, which
// always differ. Other paths ("0.3") are only positions: these requests are found by their content.
std::string_view PlaceOf(const Request& request) {
  return request.path.find('/') != std::string::npos ? std::string_view(request.path) : "";
}

class FileRecorder final : public Recorder, public std::enable_shared_from_this<FileRecorder> {
 public:
  FileRecorder(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

  std::shared_ptr<Client> Wrap(std::shared_ptr<Client> client, std::string key) override;

  // `place` of a request that is found by it; "" for one that is found by its content.
  Status Write(std::string_view place, const Json& request, std::string_view kind, Json outcome) {
    JsonObject line{{"schema", kRecordingSchema}, {"sha256", Sha256Hex(ToJson(request))}};
    if (!place.empty()) line["place"] = place;
    line["request"] = request;
    line[kind] = std::move(outcome);
    const std::string text = ToJson(line) + "\n";
    std::lock_guard lock(mutex_);
    return WriteAll(file_.get(), text);
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  const UniqueFd file_;
  std::mutex mutex_;
};

// Writes the pair when the attempt ends, before anybody reacts to it.
class RecordingSink final : public Sink {
 public:
  RecordingSink(std::shared_ptr<FileRecorder> recorder, std::shared_ptr<const std::string> key,
                std::shared_ptr<const Request> request, std::shared_ptr<Sink> sink)
      : recorder_(std::move(recorder)),
        key_(std::move(key)),
        request_(std::move(request)),
        sink_(std::move(sink)) {}

  void OnDelta(std::string_view text) override { sink_->OnDelta(text); }
  void OnRetry(int attempt, const Error& error, Millis wait) override {
    sink_->OnRetry(attempt, error, wait);
  }
  void OnFailure(const Failure& failure) override {
    failure_ = failure;
    sink_->OnFailure(failure);
  }
  void OnDone(Result<Reply> reply) override {
    const bool cancelled = !reply && reply.error().code == ErrorCode::kCancelled;
    if (!cancelled) {
      const Json request = RequestToJson(*request_, *key_);
      const std::string_view place = PlaceOf(*request_);
      const Status written =
          reply ? recorder_->Write(place, request, "reply", ReplyToJson(*reply, *key_))
                : recorder_->Write(place, request, "error",
                                   FailureToJson(reply.error(), failure_, *key_));
      if (!written && reply) {
        reply->warnings.push_back(
            fmt::format("not recorded in {}: {}", recorder_->path(), written.error().message));
      }
    }
    sink_->OnDone(std::move(reply));
  }

 private:
  const std::shared_ptr<FileRecorder> recorder_;
  const std::shared_ptr<const std::string> key_;
  const std::shared_ptr<const Request> request_;
  const std::shared_ptr<Sink> sink_;
  Failure failure_;
};

class RecordingClient final : public Client {
 public:
  RecordingClient(std::shared_ptr<FileRecorder> recorder, std::shared_ptr<Client> client,
                  std::string key)
      : recorder_(std::move(recorder)),
        client_(std::move(client)),
        key_(std::make_shared<const std::string>(std::move(key))) {}

  void Submit(std::shared_ptr<const Request> request, CancelToken cancel,
              std::shared_ptr<Sink> sink) override {
    auto recording = std::make_shared<RecordingSink>(recorder_, key_, request, std::move(sink));
    client_->Submit(std::move(request), std::move(cancel), std::move(recording));
  }

 private:
  const std::shared_ptr<FileRecorder> recorder_;
  const std::shared_ptr<Client> client_;
  const std::shared_ptr<const std::string> key_;
};

std::shared_ptr<Client> FileRecorder::Wrap(std::shared_ptr<Client> client, std::string key) {
  return std::make_shared<RecordingClient>(shared_from_this(), std::move(client), std::move(key));
}

struct Pair {
  Json request, outcome;
  enum class Kind { kReply, kError } kind = Kind::kReply;
  std::string place;  // "": found by content
  bool served = false;
};

// A pair to serve, with a warning about it.
struct Served {
  const Pair* pair = nullptr;
  std::string warning;  // "": nothing
};

class FileRecording final : public Recording, public std::enable_shared_from_this<FileRecording> {
 public:
  FileRecording(std::string path, std::vector<Pair> pairs)
      : path_(std::move(path)), pairs_(std::move(pairs)) {
    for (std::size_t i = pairs_.size(); i-- > 0;) {
      by_hash_[Sha256Hex(ToJson(pairs_[i].request))].push_back(i);
      if (!pairs_[i].place.empty()) by_place_[pairs_[i].place].push_back(i);
    }
  }

  std::shared_ptr<model::Client> Client() override;
  std::string first_model() const override {
    return std::string(pairs_.empty() ? "" : FindString(pairs_[0].request, "model").value_or(""));
  }

  // Returns the next pair for `request`. Errors: kFailed.
  Result<Served> Take(const Request& request) {
    const Json asked = RequestToJson(request, "");
    std::lock_guard lock(mutex_);
    ++asked_;
    if (Pair* pair = AtPlace(PlaceOf(request))) return Served{pair, Difference(*pair, asked)};
    const auto found = by_hash_.find(Sha256Hex(ToJson(asked)));
    if (found == by_hash_.end()) return NotThere(asked);
    if (found->second.empty()) {
      return MakeError(ErrorCode::kFailed,
                       "replay {}: request {} was recorded, but not so often; record it again",
                       path_, asked_);
    }
    Pair& pair = pairs_[found->second.back()];
    found->second.pop_back();
    pair.served = true;
    return Served{&pair, ""};
  }

 private:
  // Returns the next pair recorded at this place; null if there are none left.
  Pair* AtPlace(std::string_view place) {
    const auto found = place.empty() ? by_place_.end() : by_place_.find(place);
    if (found == by_place_.end() || found->second.empty()) return nullptr;
    Pair& pair = pairs_[found->second.back()];
    found->second.pop_back();
    pair.served = true;
    return &pair;
  }

  // Reported once, because a difference in one prompt recurs in many later ones.
  std::string Difference(const Pair& pair, const Json& asked) {
    if (told_ || ToJson(pair.request) == ToJson(asked)) return {};
    told_ = true;
    return fmt::format(
        "replay {}: {} was asked otherwise when it was recorded, first at {}; its reply is used",
        path_, pair.place, FirstDifference(pair.request, asked));
  }

  // Names the recorded request that is equal for the longest, the first of those not yet served.
  tl::unexpected<Error> NotThere(const Json& asked) const {
    const std::string text = ToJson(asked);
    const Pair* nearest = nullptr;
    std::size_t longest = 0;
    for (const Pair& pair : pairs_) {
      const std::string other = ToJson(pair.request);
      const auto alike = static_cast<std::size_t>(
          std::mismatch(text.begin(), text.end(), other.begin(), other.end()).first - text.begin());
      const bool better =
          !nearest || alike > longest || (alike == longest && nearest->served && !pair.served);
      if (better) nearest = &pair, longest = alike;
    }
    return MakeError(ErrorCode::kFailed, "replay {}: request {} was not recorded; {}", path_,
                     asked_,
                     nearest ? "first difference at " + FirstDifference(nearest->request, asked)
                             : std::string("the file is empty"));
  }

  const std::string path_;
  std::mutex mutex_;
  std::vector<Pair> pairs_;
  std::map<std::string, std::vector<std::size_t>> by_hash_;  // for each, the next one is last
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_place_;  // in the same order
  std::int64_t asked_ = 0;
  bool told_ = false;
};

class ReplayClient final : public Client {
 public:
  explicit ReplayClient(std::shared_ptr<FileRecording> recording)
      : recording_(std::move(recording)), timer_(MakeThreadTimer(SystemClock())) {}

  void Submit(std::shared_ptr<const Request> request, CancelToken cancel,
              std::shared_ptr<Sink> sink) override {
    Result<Served> served = recording_->Take(*request);
    timer_->Post([recording = recording_, served = std::move(served), cancel = std::move(cancel),
                  sink = std::move(sink)] {
      if (cancel.cancelled()) {
        return sink->OnDone(MakeError(ErrorCode::kCancelled, "cancelled: {}", cancel.reason()));
      }
      if (!served) return sink->OnDone(tl::unexpected(served.error()));
      Deliver(*served, *sink);
    });
  }

 private:
  static void Deliver(const Served& served, Sink& sink) {
    const Pair& pair = *served.pair;
    if (pair.kind == Pair::Kind::kError) {
      RecordedFailure recorded = FailureFromJson(pair.outcome);
      sink.OnFailure(recorded.failure);
      return sink.OnDone(tl::unexpected(std::move(recorded.error)));
    }
    Reply reply = ReplyFromJson(pair.outcome);
    if (!served.warning.empty()) reply.warnings.push_back(served.warning);
    if (!reply.text.empty()) sink.OnDelta(reply.text);
    sink.OnDone(std::move(reply));
  }

  const std::shared_ptr<FileRecording> recording_;
  const std::shared_ptr<Timer> timer_;
};

std::shared_ptr<model::Client> FileRecording::Client() {
  return std::make_shared<ReplayClient>(shared_from_this());
}

bool IsRecording(std::string_view text) {
  const auto line = ParseJson(text.substr(0, text.find('\n')));
  return line && FindString(*line, "schema") == kRecordingSchema;
}

}  // namespace

Result<std::shared_ptr<Recorder>> Recorder::Create(const std::string& path) {
  const auto old = ReadRegularFile(path, kMostBytes);
  const ErrorCode failed = old ? ErrorCode::kNotFound : old.error().code;
  if (failed != ErrorCode::kNotFound &&
      failed != ErrorCode::kConfig) {  // kConfig: a pipe, a device
    return MakeError(ErrorCode::kUsage,
                     "--record {}: what the file holds cannot be read ({}); name another", path,
                     old.error().message);
  }
  if (old && !TrimSpace(*old).empty() && !IsRecording(*old)) {
    return MakeError(ErrorCode::kUsage,
                     "--record {}: the file holds something else than a recording; name another",
                     path);
  }
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  if (!file.valid()) return MakeErrnoError(errno, path);
  return std::make_shared<FileRecorder>(path, std::move(file));
}

Result<std::shared_ptr<Recording>> Recording::Load(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(path, kMostBytes));
  std::vector<Pair> pairs;
  std::size_t number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++number;
    if (TrimSpace(line).empty()) continue;
    auto json = ParseJson(line, /*max_depth=*/128);
    const bool good = json && FindString(*json, "schema") == kRecordingSchema &&
                      Find(*json, "request") && (Find(*json, "reply") || Find(*json, "error"));
    if (!good) {
      return MakeError(ErrorCode::kConfig, "{}:{}: no line of a recording ({}): {}", path, number,
                       kRecordingSchema,
                       json ? "schema, request or outcome is missing" : json.error().message);
    }
    const Json* reply = Find(*json, "reply");
    pairs.push_back({.request = *Find(*json, "request"),
                     .outcome = reply ? *reply : *Find(*json, "error"),
                     .kind = reply ? Pair::Kind::kReply : Pair::Kind::kError,
                     .place = TextAt(*json, "place")});
  }
  return std::make_shared<FileRecording>(path, std::move(pairs));
}

namespace {

using assembly::Block;

constexpr std::string_view kFence = "DATA ";
constexpr std::size_t kIdDigits = 32;
constexpr std::size_t kShown = 30;  // characters on each side of a difference

bool IsHexId(std::string_view text) {
  return text.size() == kIdDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Replaces the id in "<<<DATA 72c8…" and "DATA 72c8…>>>" by zeros, because it differs in each run.
std::string WithoutFenceIds(std::string text) {
  for (std::size_t at = text.find(kFence); at != std::string::npos; at = text.find(kFence, at)) {
    at += kFence.size();
    if (IsHexId(std::string_view(text).substr(at, kIdDigits))) {
      text.replace(at, kIdDigits, kIdDigits, '0');
    }
  }
  return text;
}

// Applies `change` to every text of `value`.
template <typename Change>
Json MapTexts(const Json& value, const Change& change) {
  if (const auto* text = value.if_string()) return Json(change(std::string(*text)));
  if (const auto* array = value.if_array()) {
    JsonArray out;
    out.reserve(array->size());
    for (const Json& item : *array) out.push_back(MapTexts(item, change));
    return out;
  }
  if (const auto* object = value.if_object()) {
    JsonObject out;
    for (const auto& [name, item] : *object) out[name] = MapTexts(item, change);
    return out;
  }
  return value;
}

std::string WithoutSecrets(std::string text, std::string_view key) {
  if (!utf8::IsValid(text)) text = utf8::Sanitize(text);
  if (!key.empty()) text = ReplaceAll(text, key, "[redacted:key]");
  return Redact(text);
}

Json Cleaned(const Json& value, std::string_view key) {
  return MapTexts(value, [key](std::string text) { return WithoutSecrets(std::move(text), key); });
}

// Leaves out the seed, because it differs in each run.
Json SamplingToJson(const Sampling& sampling) {
  JsonObject out;
  if (sampling.temperature) out["temperature"] = *sampling.temperature;
  if (sampling.top_p) out["top_p"] = *sampling.top_p;
  if (sampling.max_output) out["max_output"] = *sampling.max_output;
  if (!sampling.stop.empty()) out["stop"] = JsonArray(sampling.stop.begin(), sampling.stop.end());
  if (!sampling.grammar.empty()) out["grammar"] = sampling.grammar;
  if (sampling.first_tokens > 0) out["first_tokens"] = sampling.first_tokens;
  if (!sampling.extra.empty()) out["extra"] = sampling.extra;
  return out;
}

std::string Shown(std::string_view text, std::size_t at) {
  const std::size_t from = utf8::FloorBoundary(text, at > kShown ? at - kShown : 0);
  const std::string_view part = utf8::Prefix(text.substr(from), 2 * kShown);
  return ToJson(Json(fmt::format("{}{}{}", from > 0 ? "…" : "", part,
                                 from + part.size() < text.size() ? "…" : "")));
}

std::string TextDifference(std::string_view recorded, std::string_view asked) {
  const auto [one, other] =
      std::mismatch(recorded.begin(), recorded.end(), asked.begin(), asked.end());
  const auto at = static_cast<std::size_t>(one - recorded.begin());
  return fmt::format(", character {}: recorded {}, asked {}",
                     utf8::CodePoints(recorded.substr(0, at)), Shown(recorded, at),
                     Shown(asked, at));
}

// Finds the first difference; `path` contains its place afterwards.
std::string Compare(const Json& recorded, const Json& asked, std::string& path) {
  const std::string here = path;
  const auto inside = [&](const Json* one, const Json* other, std::string place) -> std::string {
    path = std::move(place);
    if (!one) return path + " is new";
    if (!other) return path + " is gone";
    return Compare(*one, *other, path);
  };
  if (recorded.is_object() && asked.is_object()) {
    const std::string dot = here.empty() ? "" : here + ".";
    for (const auto& [name, value] : asked.as_object()) {
      auto found = inside(Find(recorded, name), &value, dot + std::string(name));
      if (!found.empty()) return found;
    }
    for (const auto& [name, value] : recorded.as_object()) {
      if (!Find(asked, name)) return inside(&value, nullptr, dot + std::string(name));
    }
    return {};
  }
  if (recorded.is_array() && asked.is_array()) {
    const JsonArray &one = recorded.as_array(), &other = asked.as_array();
    for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
      auto found = inside(i < one.size() ? &one[i] : nullptr,
                          i < other.size() ? &other[i] : nullptr, fmt::format("{}[{}]", here, i));
      if (!found.empty()) return found;
    }
    return {};
  }
  if (recorded == asked) return {};
  if (recorded.is_string() && asked.is_string()) {
    return path + TextDifference(recorded.as_string(), asked.as_string());
  }
  return fmt::format("{}: recorded {}, asked {}", path, utf8::Prefix(ToJson(recorded), 60),
                     utf8::Prefix(ToJson(asked), 60));
}

JsonArray CallsToJson(const std::vector<ToolCall>& calls) {
  JsonArray out;
  for (const ToolCall& call : calls) {
    JsonObject json{{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}};
    if (!call.provider_data.is_null()) json["provider_data"] = call.provider_data;
    out.push_back(std::move(json));
  }
  return out;
}

Json ValueAt(const Json& json, std::string_view name) {
  const Json* value = Find(json, name);
  return value ? *value : Json();
}

Block BlockFromJson(const Json& json) {
  Block block{.text = TextAt(json, "text"),
              .call_id = TextAt(json, "id"),
              .tool_name = TextAt(json, "name"),
              .arguments = ValueAt(json, "arguments"),
              .provider_data = ValueAt(json, "provider_data")};
  const std::string type = TextAt(json, "type");
  if (type == "thinking") block.type = Block::Type::kThinking;
  if (type == "tool_call") block.type = Block::Type::kToolCall;
  return block;
}

Usage UsageFromJson(const Json& json) {
  const auto tokens = [&](std::string_view name) {
    return std::max<std::int64_t>(0, FindInt(json, name).value_or(0));
  };
  return {.input = tokens("input"),
          .output = tokens("output"),
          .cached = tokens("cached"),
          .cache_write = tokens("cache_write"),
          .cache_write_long = tokens("cache_write_long"),
          .reasoning = FindInt(json, "reasoning"),
          .estimated = FindBool(json, "estimated").value_or(false),
          .cost_nano_usd = FindInt(json, "cost_nano_usd")};
}

Json UsageToJson(const Usage& usage) {
  return JsonObject{
      {"input", usage.input},
      {"output", usage.output},
      {"cached", usage.cached},
      {"cache_write", usage.cache_write},
      {"cache_write_long", usage.cache_write_long},
      {"reasoning", usage.reasoning ? Json(*usage.reasoning) : Json(nullptr)},
      {"estimated", usage.estimated},
      {"cost_nano_usd", usage.cost_nano_usd ? Json(*usage.cost_nano_usd) : Json(nullptr)}};
}

}  // namespace

Json RequestToJson(const Request& request, std::string_view key) {
  JsonObject out{{"model", request.model},
                 {"messages", assembly::ToCanonicalJson(request.messages)},
                 {"sampling", SamplingToJson(request.sampling)}};
  if (request.schema) out["schema"] = *request.schema;
  return MapTexts(Cleaned(out, key), WithoutFenceIds);
}

Json ReplyToJson(const Reply& reply, std::string_view key) {
  JsonArray warnings(reply.warnings.begin(), reply.warnings.end());
  JsonObject out{{"text", reply.text},
                 {"thinking", reply.thinking},
                 {"tool_calls", CallsToJson(reply.tool_calls)},
                 {"finish", FinishName(reply.finish)},
                 {"usage", UsageToJson(reply.usage)},
                 {"resolved_model", reply.resolved_model},
                 {"provider_data", reply.provider_data},
                 {"warnings", std::move(warnings)}};
  if (!reply.first_tokens.empty()) {
    JsonArray chances;
    for (const TokenChance& chance : reply.first_tokens) {
      chances.push_back(JsonObject{{"token", chance.token}, {"logprob", chance.logprob}});
    }
    out["first_tokens"] = std::move(chances);
  }
  if (!reply.blocks.empty()) {
    assembly::Messages messages;
    messages.turns.push_back({.role = assembly::Role::kAssistant, .blocks = reply.blocks});
    out["blocks"] = ToCanonicalJson(messages).at_pointer("/turns/0/blocks");
  }
  return Cleaned(out, key);
}

Json FailureToJson(const Error& error, const Failure& failure, std::string_view key) {
  JsonObject out{{"code", ErrorName(error.code)},
                 {"message", error.message},
                 {"status", failure.status},
                 {"retry", failure.retry == Failure::Retry::kYes}};
  if (failure.sent == Failure::Sent::kYes) out["sent"] = true;
  if (failure.usage) out["usage"] = UsageToJson(*failure.usage);
  if (failure.retry_after) out["retry_after_ms"] = failure.retry_after->count();
  return Cleaned(out, key);
}

Reply ReplyFromJson(const Json& json) {
  Reply reply;
  reply.text = TextAt(json, "text");
  reply.thinking = TextAt(json, "thinking");
  reply.resolved_model = TextAt(json, "resolved_model");
  reply.provider_data = ValueAt(json, "provider_data");
  reply.finish = Finish::kOther;
  for (const Finish finish :
       {Finish::kStop, Finish::kLength, Finish::kToolCalls, Finish::kFilter, Finish::kRefused,
        Finish::kCut}) {
    if (FindString(json, "finish") == FinishName(finish)) reply.finish = finish;
  }
  reply.usage = UsageFromJson(ValueAt(json, "usage"));
  const auto each = [&](std::string_view name, const auto& take) {
    const Json* list = Find(json, name);
    if (!list || !list->is_array()) return;
    for (const Json& item : list->as_array()) take(item);
  };
  each("tool_calls", [&](const Json& call) {
    reply.tool_calls.push_back({.id = TextAt(call, "id"),
                                .name = TextAt(call, "name"),
                                .arguments = ValueAt(call, "arguments"),
                                .provider_data = ValueAt(call, "provider_data")});
  });
  each("first_tokens", [&](const Json& chance) {
    reply.first_tokens.push_back(
        {TextAt(chance, "token"), FindNumber(chance, "logprob").value_or(0)});
  });
  each("blocks", [&](const Json& block) { reply.blocks.push_back(BlockFromJson(block)); });
  each("warnings", [&](const Json& text) {
    if (text.is_string()) reply.warnings.emplace_back(text.as_string());
  });
  return reply;
}

RecordedFailure FailureFromJson(const Json& json) {
  RecordedFailure recorded{.error = {ErrorCode::kFailed, TextAt(json, "message")}};
  for (int code = 0; code <= static_cast<int>(ErrorCode::kFailed); ++code) {
    const auto known = static_cast<ErrorCode>(code);
    if (FindString(json, "code") == ErrorName(known)) recorded.error.code = known;
  }
  recorded.failure.status = static_cast<int>(FindInt(json, "status").value_or(0));
  if (FindBool(json, "retry") == true) recorded.failure.retry = Failure::Retry::kYes;
  if (FindBool(json, "sent") == true) recorded.failure.sent = Failure::Sent::kYes;
  if (const Json* usage = Find(json, "usage")) recorded.failure.usage = UsageFromJson(*usage);
  if (const auto wait = FindInt(json, "retry_after_ms"); wait && *wait >= 0) {
    recorded.failure.retry_after = Millis(*wait);
  }
  return recorded;
}

std::string FirstDifference(const Json& recorded, const Json& asked) {
  std::string path;
  return Compare(recorded, asked, path);
}

}  // namespace dossier::model
