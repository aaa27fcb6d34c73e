// An HTTP client on libcurl's multi interface: thousands of requests, one thread.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto loop, HttpLoop::Make());
//   loop->Send({.url = url, .headers = {"Content-Type: application/json"}, .body = body}, cancel,
//              receiver);
//
// Uses HTTP/2 if an https server offers it. Follows no redirects, as a key belongs to one host.
// Respects proxy variables (http_proxy, https_proxy, all_proxy, no_proxy), except for loopback.
// SSL_CERT_FILE names other certificate authorities.
//
// Thread-safety: Send and Resume from any thread. Receivers are called only on the loop's thread,
// never before Send returns, and must not block; a receiver that has enough pauses its transfer.
// Destroying the loop ends open transfers with kCancelled and waits for the thread, so no receiver
// may own the loop.

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
  Millis idle_limit{60'000};  // the longest silence; our own pauses do not count
};

struct HttpEnd {
  // The error if the transfer is incomplete: kTimeout, kNetwork, kCancelled; unset: complete.
  std::optional<Error> error;
  // kYes: the failure may be temporary, so a retry may help. kNo for a bad certificate and for an
  // error of the receiver.
  enum class Again { kNo, kYes } again = Again::kNo;
  // kYes: the whole request was sent, so the server may have acted on it even if no reply came.
  enum class Sent { kNo, kYes } sent = Sent::kNo;
};

// A receiver's request: continue, or pause the transfer.
enum class Flow { kGo, kPause };

class HttpReceiver {
 public:
  virtual ~HttpReceiver() = default;
  // Gets only the headers in use, with names in lower case: content-type, content-length,
  // content-range, etag, location, mcp-session-id, retry-after and those of rate limits.
  virtual void OnHead(int status, std::vector<std::pair<std::string, std::string>> headers) = 0;
  // After kPause nothing more is read from the server or delivered until Resume. An error ends the
  // transfer and is passed to OnEnd.
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
  // Continues a paused transfer; does nothing to another, or to one that has ended.
  virtual void Resume(std::uint64_t transfer) = 0;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_NET_HTTP_LOOP_H_
