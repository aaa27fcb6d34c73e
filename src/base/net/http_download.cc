#include "base/net/http_download.h"

#include <condition_variable>
#include <mutex>
#include <optional>

namespace dossier {
namespace {

// So much may wait for the reader: a few writes of a slow disk.
constexpr std::size_t kMostWaiting = 4u << 20;

}  // namespace

std::string_view HttpDownload::Head::Header(std::string_view name) const {
  for (const auto& [header, value] : headers) {
    if (header == name) return value;
  }
  return {};
}

// Between the loop's thread and the reader's.
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
  // `resume`: the transfer was paused and has to go on.
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
