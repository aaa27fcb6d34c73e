#include "model/schema/schema_fetch.h"

#include <condition_variable>
#include <mutex>

#include "base/net/http_loop.h"

namespace dossier::model {
namespace {

constexpr int kOk = 200;

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
      return MakeError(ErrorCode::kNetwork, "the server answered with status {}", status_);
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

Result<SchemaSource::Fetch> FetchByHttp() {
  DOSSIER_ASSIGN_OR_RETURN(std::shared_ptr<HttpLoop> loop, HttpLoop::Make());
  return [loop](const std::string& url, Millis limit, std::uint64_t most_bytes,
                const CancelToken& cancel) -> Result<std::string> {
    auto receiver = std::make_shared<BodyReceiver>(most_bytes);
    loop->Send(
        {.method = HttpCall::Method::kGet,
         .url = url,
         .headers = {"Accept: application/schema+json, application/json", "User-Agent: dossier"},
         .deadline = limit,
         .idle_limit = limit},
        cancel, receiver);
    return receiver->Wait();
  };
}

}  // namespace dossier::model
