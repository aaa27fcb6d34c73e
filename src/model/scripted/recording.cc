#include "model/scripted/recording.h"

#include <fcntl.h>

#include <map>
#include <mutex>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "model/client/timer.h"
#include "model/scripted/recording_json.h"

namespace dossier::model {
namespace {

constexpr std::uint64_t kMostBytes = 4ull << 30;

// A path with slashes names one request of a run, the same in each run of its kind ("NODE/draft/a1/
// r1"): it is found by that, because its prompt tells run times and outputs, which are never twice
// the same. Other paths ("0.3") are only positions: these requests are found by their content.
std::string_view PlaceOf(const Request& request) {
  return request.path.find('/') != std::string::npos ? std::string_view(request.path) : "";
}

class FileRecorder final : public Recorder, public std::enable_shared_from_this<FileRecorder> {
 public:
  FileRecorder(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

  std::shared_ptr<Client> Wrap(std::shared_ptr<Client> client, std::string key) override;

  // `place`: of a request that is found by it; "": by its content.
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

// Writes the pair when the attempt ends, before anybody acts on it.
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
  std::string place;  // "": it is found by its content
  bool served = false;
};

// What is served: a pair, and what is to be told of it.
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

  // The next pair for `request`. Errors: kFailed.
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
  // The next one that was recorded at this place; null: none, or none any more.
  Pair* AtPlace(std::string_view place) {
    const auto found = place.empty() ? by_place_.end() : by_place_.find(place);
    if (found == by_place_.end() || found->second.empty()) return nullptr;
    Pair& pair = pairs_[found->second.back()];
    found->second.pop_back();
    pair.served = true;
    return &pair;
  }

  // Told once: what differs in one prompt stands in many that come after it.
  std::string Difference(const Pair& pair, const Json& asked) {
    if (told_ || ToJson(pair.request) == ToJson(asked)) return {};
    told_ = true;
    return fmt::format(
        "replay {}: {} was asked otherwise when it was recorded, first at {}; its reply is used",
        path_, pair.place, FirstDifference(pair.request, asked));
  }

  // The recorded request that is alike the longest, the first of them that is still to come.
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
  std::map<std::string, std::vector<std::size_t>> by_hash_;  // of each, the next one last
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
  if (const auto old = ReadFile(path, kMostBytes);
      old && !TrimSpace(*old).empty() && !IsRecording(*old)) {
    return MakeError(ErrorCode::kUsage,
                     "--record {}: the file holds something else than a recording; name another",
                     path);
  }
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  if (!file.valid()) return MakeErrnoError(errno, path);
  return std::make_shared<FileRecorder>(path, std::move(file));
}

Result<std::shared_ptr<Recording>> Recording::Load(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
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

}  // namespace dossier::model
