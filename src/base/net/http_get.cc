#include "base/net/http_get.h"

#include <condition_variable>
#include <mutex>
#include <optional>

namespace dossier {
namespace {

constexpr int kOk = 200;

ErrorCode CodeOf(int status) {
  if (status == 401 || status == 403) return ErrorCode::kAuth;
  return status == 404 ? ErrorCode::kNotFound : ErrorCode::kNetwork;
}

// Collects one small body and lets one thread wait for it.
class BodyReceiver final : public HttpReceiver {
 public:
  explicit BodyReceiver(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  void OnHead(int status, std::vector<std::pair<std::string, std::string>>) override {
    status_ = status;
    body_.clear();
  }

  Result<Flow> OnBody(std::string_view bytes) override {
    body_ += bytes;
    if (body_.size() > most_bytes_) {
      return MakeError(ErrorCode::kTooLong, "it is larger than {} bytes", most_bytes_);
    }
    return Flow::kGo;
  }

  void OnEnd(HttpEnd end) override {
    std::lock_guard lock(mutex_);
    end_ = std::move(end);
    done_.notify_all();
  }

  Result<std::string> Wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return end_.has_value(); });
    if (end_->error) return tl::unexpected(*end_->error);
    if (status_ != kOk) {
      return MakeError(CodeOf(status_), "the server answered with status {}", status_);
    }
    return std::move(body_);
  }

 private:
  const std::uint64_t most_bytes_;
  int status_ = 0;
  std::string body_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::optional<HttpEnd> end_;
};

}  // namespace

Result<std::string> HttpGet(HttpLoop& loop, HttpCall call, std::uint64_t most_bytes,
                            const CancelToken& cancel) {
  call.method = HttpCall::Method::kGet;
  auto receiver = std::make_shared<BodyReceiver>(most_bytes);
  loop.Send(std::move(call), cancel, receiver);
  return receiver->Wait();
}

}  // namespace dossier
