// HTTP over libcurl's multi interface: thousands of requests, one thread.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto loop, HttpLoop::Make());
//   loop->Send({.url = url, .headers = {"Content-Type: application/json"}, .body = body}, cancel,
//              receiver);
//
// HTTP/2 where an https server offers it. No redirect is followed: a key belongs to one host. Proxy
// variables (http_proxy, https_proxy, all_proxy, no_proxy) count, but not for loopback.
// SSL_CERT_FILE names other certificate authorities.
//
// Thread-safety: Send and Resume from any thread. Receivers are called on the loop's thread only,
// never before Send returns, and must not block: one that has enough for now pauses its transfer.
// Destroying the loop ends what is open with kCancelled and waits for the thread: no receiver owns
// the loop.

#ifndef DOSSIER_BASE_NET_HTTP_LOOP_H_
#define DOSSIER_BASE_NET_HTTP_LOOP_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"

namespace dossier {

struct HttpCall {
  enum class Method { kPost, kGet } method = Method::kPost;
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  Millis deadline{300'000};   // from the start to the last byte
  Millis idle_limit{60'000};  // the longest silence; a pause of ours is none
};

struct HttpEnd {
  // What ended it before its time: kTimeout, kNetwork, kCancelled; unset: complete.
  std::optional<Error> error;
  // kYes: the failure may be temporary, so another try may help. kNo for a bad certificate and for
  // what the receiver refused.
  enum class Again { kNo, kYes } again = Again::kNo;
  // kYes: the whole request was sent, so the server may have acted on it even if no reply came.
  enum class Sent { kNo, kYes } sent = Sent::kNo;
};

// What a receiver wants next.
enum class Flow { kGo, kPause };

class HttpReceiver {
 public:
  virtual ~HttpReceiver() = default;
  // Headers that somebody reads, with names in lower case: content-type, content-length,
  // content-range, etag, location, retry-after and those of rate limits.
  virtual void OnHead(int status, std::vector<std::pair<std::string, std::string>> headers) = 0;
  // After kPause nothing more is read from the server, and nothing given, until Resume.
  // An error ends the transfer and is handed to OnEnd.
  virtual Result<Flow> OnBody(std::string_view bytes) = 0;
  virtual void OnEnd(HttpEnd end) = 0;  // once, last
};

class HttpLoop {
 public:
  // Errors: kUnavailable (libcurl).
  static Result<std::shared_ptr<HttpLoop>> Make();
  virtual ~HttpLoop() = default;
  // Returns the transfer's number.
  virtual std::uint64_t Send(HttpCall call, CancelToken cancel,
                             std::shared_ptr<HttpReceiver> receiver) = 0;
  // Goes on with a paused transfer; nothing happens to another, or to one that has ended.
  virtual void Resume(std::uint64_t transfer) = 0;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_NET_HTTP_LOOP_H_
