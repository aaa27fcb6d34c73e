// One download, read in pieces by a thread that waits for each. While nobody reads, the transfer
// pauses, so memory stays bounded.
//
//   HttpDownload download(loop, {.method = HttpCall::Method::kGet, .url = url}, cancel);
//   DOSSIER_ASSIGN_OR_RETURN(const HttpDownload::Head* head, download.ReadHead());
//   while (true) {
//     DOSSIER_ASSIGN_OR_RETURN(std::string piece, download.Read());
//     if (piece.empty()) break;      // whole
//   }
//
// Ends the transfer when it is destroyed. Thread-safety: one reader.

#ifndef DOSSIER_BASE_NET_HTTP_DOWNLOAD_H_
#define DOSSIER_BASE_NET_HTTP_DOWNLOAD_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/net/http_loop.h"
#include "base/result.h"

namespace dossier {

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
  // The next piece; empty at the end of a whole body. Errors: as ReadHead.
  Result<std::string> Read();
  // Whether another try may help after the last error.
  HttpEnd::Again again() const;

 private:
  class Pipe;
  const std::shared_ptr<HttpLoop> loop_;
  CancelSource source_;
  const std::shared_ptr<Pipe> pipe_;
  std::uint64_t transfer_ = 0;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_NET_HTTP_DOWNLOAD_H_
