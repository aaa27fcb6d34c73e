#include "base/net/http_get.h"

#include <future>

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

}  // namespace dossier
