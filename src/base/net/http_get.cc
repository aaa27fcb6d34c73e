#include "base/net/http_get.h"

#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>

#include "base/text/text.h"

namespace dossier {
namespace {

ErrorCode CodeOf(int status) {
  if (status == 401 || status == 403) return ErrorCode::kAuth;
  return status == 404 ? ErrorCode::kNotFound : ErrorCode::kNetwork;
}

// Collects one body and lets one thread wait for it.
class AnswerReceiver final : public HttpReceiver {
 public:
  AnswerReceiver(std::string url, std::uint64_t most_bytes)
      : url_(std::move(url)), most_bytes_(most_bytes) {}

  void OnHead(int status, std::vector<std::pair<std::string, std::string>> headers) override {
    answer_.status = status;
    for (auto& [name, value] : headers) {
      if (name == "location") answer_.location = std::move(value);
    }
  }

  Result<Flow> OnBody(std::string_view bytes) override {
    answer_.body += bytes;
    if (answer_.body.size() <= most_bytes_) return Flow::kGo;
    return MakeError(ErrorCode::kTooLong, "{} is larger than {}", url_, FormatSize(most_bytes_));
  }

  void OnEnd(HttpEnd end) override {
    if (end.error) return ended_.set_value(tl::unexpected(*std::move(end.error)));
    ended_.set_value(std::move(answer_));
  }

  Result<HttpAnswer> Wait() { return ended_.get_future().get(); }

 private:
  const std::string url_;
  const std::uint64_t most_bytes_;
  HttpAnswer answer_;
  std::promise<Result<HttpAnswer>> ended_;
};

}  // namespace

Result<HttpAnswer> AskHttp(HttpLoop& loop, HttpCall call, std::uint64_t most_bytes,
                           const CancelToken& cancel) {
  auto receiver = std::make_shared<AnswerReceiver>(call.url, most_bytes);
  loop.Send(std::move(call), cancel, receiver);
  return receiver->Wait();
}

Result<std::string> HttpGet(HttpLoop& loop, HttpCall call, std::uint64_t most_bytes,
                            const CancelToken& cancel) {
  call.method = HttpCall::Method::kGet;
  DOSSIER_ASSIGN_OR_RETURN(HttpAnswer answer, AskHttp(loop, std::move(call), most_bytes, cancel));
  if (answer.status == 200) return std::move(answer.body);
  return MakeError(CodeOf(answer.status), "the server answered with status {}", answer.status);
}

namespace {

// The most that may wait for the reader: a few writes of a slow disk.
constexpr std::size_t kMostWaiting = 4u << 20;

}  // namespace

std::string_view HttpDownload::Head::Header(std::string_view name) const {
  for (const auto& [header, value] : headers) {
    if (header == name) return value;
  }
  return {};
}

// The pipe from the loop's thread to the reader's.
class HttpDownload::Pipe final : public HttpReceiver {
 public:
  void OnHead(int status, std::vector<std::pair<std::string, std::string>> headers) override {
    const std::lock_guard lock(mutex_);
    head_ = Head{status, std::move(headers)};
    changed_.notify_all();
  }
  Result<Flow> OnBody(std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    waiting_ += bytes;
    paused_ = waiting_.size() >= kMostWaiting;
    changed_.notify_all();
    return paused_ ? Flow::kPause : Flow::kGo;
  }
  void OnEnd(HttpEnd end) override {
    const std::lock_guard lock(mutex_);
    end_ = std::move(end);
    changed_.notify_all();
  }

  Result<const Head*> WaitForHead() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return head_ || end_; });
    if (!head_ && end_->error) return tl::unexpected(*end_->error);
    if (!head_) head_ = Head();
    return &*head_;
  }
  // `resume`: the transfer was paused and must be continued.
  Result<std::string> Take(bool* resume) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !waiting_.empty() || end_; });
    if (waiting_.empty() && end_->error) return tl::unexpected(*end_->error);
    *resume = std::exchange(paused_, false) && !end_;
    return std::exchange(waiting_, {});
  }
  HttpEnd::Again again() {
    const std::lock_guard lock(mutex_);
    return end_ ? end_->again : HttpEnd::Again::kNo;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Head> head_;
  std::string waiting_;
  bool paused_ = false;
  std::optional<HttpEnd> end_;
};

HttpDownload::HttpDownload(std::shared_ptr<HttpLoop> loop, HttpCall call, const CancelToken& cancel)
    : loop_(std::move(loop)), source_(cancel), pipe_(std::make_shared<Pipe>()) {
  transfer_ = loop_->Send(std::move(call), source_.token(), pipe_);
}

HttpDownload::~HttpDownload() { source_.Cancel("nobody reads on"); }

Result<const HttpDownload::Head*> HttpDownload::ReadHead() { return pipe_->WaitForHead(); }

Result<std::string> HttpDownload::Read() {
  bool resume = false;
  auto piece = pipe_->Take(&resume);
  if (resume) loop_->Resume(transfer_);
  return piece;
}

HttpEnd::Again HttpDownload::again() const { return pipe_->again(); }

}  // namespace dossier
