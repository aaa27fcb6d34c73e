// Gets one answer over HTTP and waits for it: whole if it fits into memory, else in pieces.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto loop, HttpLoop::Make());
//   DOSSIER_ASSIGN_OR_RETURN(std::string body,
//                            HttpGet(*loop, {.url = url, .deadline = Millis(2000)}, 1 << 20,
//                            cancel));
//
// Thread-safety: as HttpLoop; blocks the thread that calls.

#ifndef DOSSIER_BASE_NET_HTTP_GET_H_
#define DOSSIER_BASE_NET_HTTP_GET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/net/http_loop.h"
#include "base/result.h"

namespace dossier {

struct HttpAnswer {
  int status = 0;
  std::string location, body;
};

// Returns any answer of the server to `call`. Errors: kTooLong above `most_bytes`, as HttpEnd's.
Result<HttpAnswer> AskHttp(HttpLoop& loop, HttpCall call, std::uint64_t most_bytes,
                           const CancelToken& cancel);

// Returns the body of a 200 answer; `call` is sent as a GET. Errors: kNetwork (another status,
// naming it), kAuth (401, 403), kNotFound (404), those of AskHttp.
Result<std::string> HttpGet(HttpLoop& loop, HttpCall call, std::uint64_t most_bytes,
                            const CancelToken& cancel);

// A download, read in pieces by a thread that waits for each. While nobody reads, the transfer
// pauses, so memory stays bounded.
//
//   HttpDownload download(loop, {.method = HttpCall::Method::kGet, .url = url}, cancel);
//   DOSSIER_ASSIGN_OR_RETURN(const HttpDownload::Head* head, download.ReadHead());
//   while (true) {
//     DOSSIER_ASSIGN_OR_RETURN(std::string piece, download.Read());
//     if (piece.empty()) break;      // whole
//   }
//
// The destructor ends the transfer. Thread-safety: one reader.

class HttpDownload {
 public:
  struct Head {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers;  // as HttpReceiver::OnHead
    std::string_view Header(std::string_view name) const;      // empty if absent
  };

  HttpDownload(std::shared_ptr<HttpLoop> loop, HttpCall call, const CancelToken& cancel);
  ~HttpDownload();
  HttpDownload(const HttpDownload&) = delete;
  HttpDownload& operator=(const HttpDownload&) = delete;

  // Waits for status and headers. Errors: kNetwork, kTimeout, kCancelled.
  Result<const Head*> ReadHead();
  // Returns the next piece; empty at the end of a whole body. Errors: as ReadHead.
  Result<std::string> Read();
  // Tells whether a retry may help after the last error.
  HttpEnd::Again again() const;

 private:
  class Pipe;
  const std::shared_ptr<HttpLoop> loop_;
  CancelSource source_;
  const std::shared_ptr<Pipe> pipe_;
  std::uint64_t transfer_ = 0;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_NET_HTTP_GET_H_
