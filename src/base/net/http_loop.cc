#include "base/net/http_loop.h"

#include <cstdlib>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/net/curl_api.h"
#include "base/net/url.h"
#include "base/text/text.h"

namespace dossier {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Poll interval, which is also the accuracy of deadlines.
constexpr Millis kLook{20};
constexpr std::size_t kMostHeaderBytes = 64 << 10;
constexpr std::size_t kSpareHandles = 64;

class Worker;

struct Transfer {
  std::uint64_t id = 0;
  Worker* worker = nullptr;  // outlives this object
  HttpCall call;
  CancelToken cancel;
  std::shared_ptr<HttpReceiver> receiver;
  std::uint64_t cancel_id = 0;

  // Used only on the loop's thread.
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  char reason[CURL_ERROR_SIZE] = "";
  int status = 0;
  std::vector<std::pair<std::string, std::string>> head;
  std::size_t header_bytes = 0;
  std::uint64_t body_bytes = 0;
  bool paused = false;
  SteadyClock::time_point started, last_byte;
  std::optional<Error> refused;  // by the receiver, or by a limit
};

bool IsWanted(std::string_view header) {
  for (const char* name :
       {"content-type", "content-length", "content-range", "etag", "location", "mcp-session-id"}) {
    if (header == name) return true;
  }
  return header.find("retry-after") != header.npos || header.find("ratelimit") != header.npos;
}

// Returns the host of an address, for messages.
std::string Place(const std::string& url) {
  const auto parsed = ParseUrl(url);
  return parsed ? fmt::format("{}:{}", parsed->host, parsed->port) : "the address";
}

std::size_t OnHeader(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view line(data, size * count);
  transfer.last_byte = SteadyClock::now();
  transfer.header_bytes += line.size();
  if (transfer.header_bytes > kMostHeaderBytes) {
    transfer.refused = Error{ErrorCode::kNetwork, "the reply's headers are larger than 64 KiB"};
    return 0;
  }
  if (line.substr(0, 5) == "HTTP/") {  // a new head, after an interim answer or a proxy's
    transfer.head.clear();
    return line.size();
  }
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return line.size();
  const std::string name = ToLowerAscii(TrimSpace(line.substr(0, colon)));
  if (IsWanted(name))
    transfer.head.emplace_back(name, std::string(TrimSpace(line.substr(colon + 1))));
  return line.size();
}

// Explains to the user why a transfer failed. `reason` is curl's own message.
std::string Cause(CURLcode code, std::string_view reason, std::string_view host,
                  long proxy_status) {
  if (proxy_status >= 400) return fmt::format("the proxy refuses (status {})", proxy_status);
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "the host name is not known (DNS)";
    case CURLE_COULDNT_RESOLVE_PROXY:
      return "the proxy's name is not known (DNS)";
    case CURLE_COULDNT_CONNECT:
      if (reason.starts_with("Failed to connect to ") && reason.find(host) == reason.npos) {
        return fmt::format("the proxy does not answer ({})", reason);
      }
      return "no connection (refused, or nothing listens there)";
    case CURLE_SSL_CONNECT_ERROR:
      return fmt::format("TLS failed: {}", reason);
    case CURLE_PEER_FAILED_VERIFICATION:
      return "the server's certificate is not trusted (SSL_CERT_FILE names other authorities)";
    case CURLE_SSL_CACERT_BADFILE:
      return "the file of certificate authorities that SSL_CERT_FILE names cannot be read";
    case CURLE_GOT_NOTHING:
      return "the server closed the connection without an answer";
    default:
      return std::string(reason);
  }
}

bool MayPass(CURLcode code, long proxy_status) {
  return code != CURLE_PEER_FAILED_VERIFICATION && code != CURLE_SSL_CACERT_BADFILE &&
         code != CURLE_URL_MALFORMAT && code != CURLE_UNSUPPORTED_PROTOCOL &&
         (proxy_status < 400 || proxy_status >= 500);
}

// The part shared by the thread and those who cancel.
class Worker : public std::enable_shared_from_this<Worker> {
 public:
  explicit Worker(const CurlApi& curl) : curl_(curl), multi_(curl.multi_init()) {
    curl_.multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 256L);
  }
  ~Worker() {
    for (CURL* easy : spare_) curl_.easy_cleanup(easy);
    curl_.multi_cleanup(multi_);
  }

  std::uint64_t Send(HttpCall call, const CancelToken& cancel,
                     std::shared_ptr<HttpReceiver> receiver);
  void Resume(std::uint64_t id);
  void Stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    curl_.multi_wakeup(multi_);
  }
  void Run();

 private:
  using TransferPtr = std::unique_ptr<Transfer>;

  bool TakeCommands();
  void Begin(TransferPtr transfer);
  void Configure(Transfer& transfer);
  void Continue(std::uint64_t id);
  void FinishCompleted();
  void FinishOne(Transfer& transfer, CURLcode code);
  void CheckLimits();
  void End(std::uint64_t id, std::optional<Error> error, HttpEnd::Again again);
  HttpEnd::Sent SentOf(const Transfer& transfer) const;
  static std::size_t OnData(char* data, std::size_t size, std::size_t count, void* user);
  void Announce(Transfer& transfer);

  const CurlApi& curl_;
  CURLM* const multi_;

  std::mutex mutex_;
  std::vector<TransferPtr> incoming_;
  std::vector<std::uint64_t> cancelled_, resumed_;
  std::uint64_t next_id_ = 1;
  bool stopping_ = false;

  // Only on the thread.
  std::unordered_map<std::uint64_t, TransferPtr> open_;
  std::vector<CURL*> spare_;
  SteadyClock::time_point looked_{};
};

std::uint64_t Worker::Send(HttpCall call, const CancelToken& cancel,
                           std::shared_ptr<HttpReceiver> receiver) {
  auto transfer = std::make_unique<Transfer>();
  transfer->call = std::move(call);
  transfer->cancel = cancel;
  transfer->receiver = std::move(receiver);
  std::uint64_t id = 0;
  {
    std::lock_guard lock(mutex_);
    id = transfer->id = next_id_++;
  }
  transfer->cancel_id = cancel.OnCancel([weak = weak_from_this(), id] {
    const auto worker = weak.lock();
    if (!worker) return;
    {
      std::lock_guard lock(worker->mutex_);
      worker->cancelled_.push_back(id);
    }
    worker->curl_.multi_wakeup(worker->multi_);
  });
  {
    std::lock_guard lock(mutex_);
    incoming_.push_back(std::move(transfer));
  }
  curl_.multi_wakeup(multi_);
  return id;
}

void Worker::Resume(std::uint64_t id) {
  {
    std::lock_guard lock(mutex_);
    resumed_.push_back(id);
  }
  curl_.multi_wakeup(multi_);
}

void Worker::Run() {
  while (TakeCommands()) {
    int running = 0;
    curl_.multi_perform(multi_, &running);
    FinishCompleted();
    CheckLimits();
    const int wait = open_.empty() ? 60'000 : static_cast<int>(kLook.count());
    curl_.multi_poll(multi_, nullptr, 0, wait, nullptr);
  }
  while (!open_.empty()) {
    End(open_.begin()->first, Error{ErrorCode::kCancelled, "the program ends"},
        HttpEnd::Again::kNo);
  }
}

// Returns false when the loop ends.
bool Worker::TakeCommands() {
  std::vector<TransferPtr> incoming;
  std::vector<std::uint64_t> cancelled, resumed;
  bool stopping = false;
  {
    std::lock_guard lock(mutex_);
    incoming.swap(incoming_);
    cancelled.swap(cancelled_);
    resumed.swap(resumed_);
    stopping = stopping_;
  }
  for (TransferPtr& transfer : incoming) Begin(std::move(transfer));
  for (const std::uint64_t id : cancelled) {
    const auto found = open_.find(id);
    if (found == open_.end()) continue;
    End(id, Error{ErrorCode::kCancelled, "cancelled: " + found->second->cancel.reason()},
        HttpEnd::Again::kNo);
  }
  for (const std::uint64_t id : resumed) Continue(id);
  return !stopping;
}

void Worker::Continue(std::uint64_t id) {
  const auto found = open_.find(id);
  if (found == open_.end() || !found->second->paused) return;
  Transfer& transfer = *found->second;
  transfer.paused = false;
  transfer.last_byte = SteadyClock::now();
  // Before returning, this may deliver data that curl holds to the receiver, who may refuse it.
  const CURLcode code = curl_.easy_pause(transfer.easy, CURLPAUSE_CONT);
  if (code != CURLE_OK) FinishOne(transfer, code);
}

void Worker::Configure(Transfer& transfer) {
  const auto set = [&](CURLoption option, auto value) {
    curl_.easy_setopt(transfer.easy, option, value);
  };
  set(CURLOPT_URL, transfer.call.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  if (transfer.call.method == HttpCall::Method::kPost) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, transfer.call.body.data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer.call.body.size()));
  }
  set(CURLOPT_HTTPHEADER, transfer.headers);
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_TCP_NODELAY, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(std::min<std::int64_t>(30'000, transfer.call.deadline.count())));
  set(CURLOPT_ERRORBUFFER, transfer.reason);
  set(CURLOPT_PRIVATE, &transfer);
  set(CURLOPT_HEADERFUNCTION, &OnHeader);
  set(CURLOPT_HEADERDATA, &transfer);
  set(CURLOPT_WRITEFUNCTION, &Worker::OnData);
  set(CURLOPT_WRITEDATA, &transfer);
  const auto url = ParseUrl(transfer.call.url);
  if (url && url->is_loopback()) set(CURLOPT_NOPROXY, "*");
  if (url && url->scheme == "https") {
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set(CURLOPT_PIPEWAIT, 1L);
    if (const char* file = std::getenv("SSL_CERT_FILE")) set(CURLOPT_CAINFO, file);
  }
}

void Worker::Begin(TransferPtr transfer) {
  Transfer& begun = *transfer;
  if (spare_.empty()) {
    begun.easy = curl_.easy_init();
  } else {
    begun.easy = spare_.back();
    spare_.pop_back();
  }
  // Without this an upload above 1 MiB waits a second for the server's permission.
  begun.headers = curl_.slist_append(nullptr, "Expect:");
  for (const std::string& header : begun.call.headers) {
    begun.headers = curl_.slist_append(begun.headers, header.c_str());
  }
  begun.worker = this;
  begun.started = begun.last_byte = SteadyClock::now();
  Configure(begun);
  const std::uint64_t id = begun.id;
  open_.emplace(id, std::move(transfer));
  if (begun.cancel.cancelled()) {
    End(id, Error{ErrorCode::kCancelled, "cancelled: " + begun.cancel.reason()},
        HttpEnd::Again::kNo);
    return;
  }
  curl_.multi_add_handle(multi_, begun.easy);
}

void Worker::Announce(Transfer& transfer) {
  if (transfer.status != 0) return;
  long status = 0;
  curl_.easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
  if (status == 0) return;
  transfer.status = static_cast<int>(status);
  transfer.receiver->OnHead(transfer.status, std::move(transfer.head));
}

std::size_t Worker::OnData(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view bytes(data, size * count);
  transfer.last_byte = SteadyClock::now();
  transfer.worker->Announce(transfer);
  transfer.body_bytes += bytes.size();
  const Result<Flow> flow = transfer.receiver->OnBody(bytes);
  if (!flow) {
    transfer.refused = flow.error();
    return 0;
  }
  if (*flow == Flow::kPause) {
    transfer.paused = true;
    transfer.worker->curl_.easy_pause(transfer.easy, CURLPAUSE_RECV);
  }
  return bytes.size();
}

void Worker::FinishCompleted() {
  int left = 0;
  while (const CURLMsg* message = curl_.multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    Transfer* transfer = nullptr;
    curl_.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    FinishOne(*transfer, message->data.result);
  }
}

void Worker::FinishOne(Transfer& transfer, CURLcode code) {
  if (code == CURLE_OK) {
    Announce(transfer);
    return End(transfer.id, std::nullopt, HttpEnd::Again::kNo);
  }
  if (transfer.refused) return End(transfer.id, transfer.refused, HttpEnd::Again::kNo);
  long proxy_status = 0;
  curl_.easy_getinfo(transfer.easy, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
  const auto url = ParseUrl(transfer.call.url);
  const std::string cause =
      Cause(code, *transfer.reason ? transfer.reason : curl_.easy_strerror(code),
            url ? url->host : "", proxy_status);
  End(transfer.id,
      Error{code == CURLE_OPERATION_TIMEDOUT ? ErrorCode::kTimeout : ErrorCode::kNetwork,
            fmt::format("{}: {}", Place(transfer.call.url), cause)},
      MayPass(code, proxy_status) ? HttpEnd::Again::kYes : HttpEnd::Again::kNo);
}

void Worker::CheckLimits() {
  const auto now = SteadyClock::now();
  if (now - looked_ < kLook) return;
  looked_ = now;
  std::vector<std::pair<std::uint64_t, Error>> late;
  for (const auto& [id, transfer] : open_) {
    const auto report = [&](std::string_view limit, Millis value) {
      late.emplace_back(
          id, Error{ErrorCode::kTimeout, fmt::format("{}: {} of {:.1f} s reached after {} bytes",
                                                     Place(transfer->call.url), limit,
                                                     static_cast<double>(value.count()) / 1000.0,
                                                     transfer->body_bytes)});
    };
    if (now - transfer->started > transfer->call.deadline) {
      report("the deadline", transfer->call.deadline);
    } else if (!transfer->paused && now - transfer->last_byte > transfer->call.idle_limit) {
      report("the limit of silence", transfer->call.idle_limit);
    }
  }
  for (auto& [id, error] : late) End(id, std::move(error), HttpEnd::Again::kYes);
}

HttpEnd::Sent Worker::SentOf(const Transfer& transfer) const {
  curl_off_t sent = 0;
  long head = 0;  // bytes; 0 if nothing of the request was sent
  curl_.easy_getinfo(transfer.easy, CURLINFO_SIZE_UPLOAD_T, &sent);
  curl_.easy_getinfo(transfer.easy, CURLINFO_REQUEST_SIZE, &head);
  const bool whole = head > 0 && sent >= static_cast<curl_off_t>(transfer.call.body.size());
  return whole ? HttpEnd::Sent::kYes : HttpEnd::Sent::kNo;
}

void Worker::End(std::uint64_t id, std::optional<Error> error, HttpEnd::Again again) {
  const auto found = open_.find(id);
  TransferPtr transfer = std::move(found->second);
  open_.erase(found);
  const HttpEnd::Sent sent = SentOf(*transfer);
  curl_.multi_remove_handle(multi_, transfer->easy);
  if (spare_.size() < kSpareHandles) {
    curl_.easy_reset(transfer->easy);
    spare_.push_back(transfer->easy);
  } else {
    curl_.easy_cleanup(transfer->easy);
  }
  curl_.slist_free_all(transfer->headers);
  transfer->cancel.Forget(transfer->cancel_id);
  transfer->receiver->OnEnd({.error = std::move(error), .again = again, .sent = sent});
}

class CurlLoop final : public HttpLoop {
 public:
  explicit CurlLoop(const CurlApi& curl) : worker_(std::make_shared<Worker>(curl)) {
    thread_ = std::thread([worker = worker_] { worker->Run(); });
  }
  ~CurlLoop() override {
    worker_->Stop();
    thread_.join();
  }

  std::uint64_t Send(HttpCall call, CancelToken cancel,
                     std::shared_ptr<HttpReceiver> receiver) override {
    return worker_->Send(std::move(call), std::move(cancel), std::move(receiver));
  }
  void Resume(std::uint64_t transfer) override { worker_->Resume(transfer); }

 private:
  const std::shared_ptr<Worker> worker_;
  std::thread thread_;
};

}  // namespace

Result<std::shared_ptr<HttpLoop>> HttpLoop::Make() {
  DOSSIER_ASSIGN_OR_RETURN(const CurlApi* curl, LoadCurl());
  return std::make_shared<CurlLoop>(*curl);
}

}  // namespace dossier
