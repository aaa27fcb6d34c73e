#include "model/local/local_http.h"

#include <fmt/format.h>

#include "base/net/curl_api.h"

namespace dossier::model {
namespace {

constexpr std::size_t kMostBytes = 16u << 20;

std::size_t TakeBytes(char* data, std::size_t size, std::size_t count, void* user) {
  auto& body = *static_cast<std::string*>(user);
  if (body.size() + size * count > kMostBytes) return 0;  // libcurl: a write error
  body.append(data, size * count);
  return size * count;
}

class CurlHttp final : public LocalHttp {
 public:
  CurlHttp(const CurlApi& curl, int port, const std::string& key)
      : curl_(curl), address_(fmt::format("http://127.0.0.1:{}", port)) {
    easy_ = curl_.easy_init();
    multi_ = curl_.multi_init();
    headers_ = curl_.slist_append(nullptr, "Content-Type: application/json");
    headers_ = curl_.slist_append(headers_, "Expect:");
    if (!key.empty()) {
      headers_ = curl_.slist_append(headers_, ("Authorization: Bearer " + key).c_str());
    }
  }

  ~CurlHttp() override {
    if (multi_) curl_.multi_cleanup(multi_);
    if (easy_) curl_.easy_cleanup(easy_);
    curl_.slist_free_all(headers_);
  }

  Result<Answer> Get(std::string_view target, Millis limit) override {
    return Ask(target, nullptr, limit);
  }

  Result<Answer> Post(std::string_view target, std::string_view json, Millis limit) override {
    return Ask(target, &json, limit);
  }

 private:
  Result<Answer> Ask(std::string_view target, const std::string_view* json, Millis limit) {
    const std::lock_guard lock(mutex_);
    if (!easy_ || !multi_) return MakeError(ErrorCode::kUnavailable, "libcurl has no memory");
    Answer answer;
    Prepare(address_ + std::string(target), json, limit, answer.body);
    const CURLcode code = Perform();
    if (code != CURLE_OK) return Failed(code, limit);
    long status = 0;
    curl_.easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    answer.status = static_cast<int>(status);
    return answer;
  }

  void Prepare(const std::string& url, const std::string_view* json, Millis limit,
               std::string& body) {
    const auto set = curl_.easy_setopt;
    curl_.easy_reset(easy_);
    set(easy_, CURLOPT_URL, url.c_str());
    set(easy_, CURLOPT_PROXY, "");
    set(easy_, CURLOPT_NOSIGNAL, 1L);
    set(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(limit.count()));
    set(easy_, CURLOPT_HTTPHEADER, headers_);
    set(easy_, CURLOPT_WRITEFUNCTION, &TakeBytes);
    set(easy_, CURLOPT_WRITEDATA, static_cast<void*>(&body));
    if (!json) return;
    set(easy_, CURLOPT_POST, 1L);
    set(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json->size()));
    set(easy_, CURLOPT_POSTFIELDS, json->data());
  }

  CURLcode Perform() {
    if (curl_.multi_add_handle(multi_, easy_) != CURLM_OK) return CURLE_FAILED_INIT;
    CURLcode code = CURLE_OK;
    int running = 1;
    while (running > 0) {
      if (curl_.multi_perform(multi_, &running) != CURLM_OK) break;
      if (running > 0) curl_.multi_poll(multi_, nullptr, 0, 1000, nullptr);
    }
    int left = 0;
    bool ended = false;
    while (const CURLMsg* message = curl_.multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      code = message->data.result;
      ended = true;
    }
    curl_.multi_remove_handle(multi_, easy_);
    return ended ? code : CURLE_RECV_ERROR;
  }

  tl::unexpected<Error> Failed(CURLcode code, Millis limit) const {
    if (code == CURLE_OPERATION_TIMEDOUT) {
      return MakeError(ErrorCode::kTimeout, "{} did not answer within {} ms", address_,
                       limit.count());
    }
    if (code == CURLE_WRITE_ERROR) {
      return MakeError(ErrorCode::kTooLong, "{} answered with more than 16 MiB", address_);
    }
    return MakeError(ErrorCode::kNetwork, "{}: {}", address_, curl_.easy_strerror(code));
  }

  const CurlApi& curl_;
  const std::string address_;
  std::mutex mutex_;
  CURL* easy_ = nullptr;
  CURLM* multi_ = nullptr;
  curl_slist* headers_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<LocalHttp>> LocalHttp::Make(int port, const std::string& key) {
  DOSSIER_ASSIGN_OR_RETURN(const CurlApi* curl, LoadCurl());
  return std::make_unique<CurlHttp>(*curl, port, key);
}

}  // namespace dossier::model
