// One answer over HTTP that fits into memory, waited for.
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
#include <string>

#include "base/cancel.h"
#include "base/net/http_loop.h"
#include "base/result.h"

namespace dossier {

struct HttpAnswer {
  int status = 0;
  std::string location, body;
};

// Whatever the server says to `call`. Errors: kTooLong above `most_bytes`, as HttpEnd's.
Result<HttpAnswer> AskHttp(HttpLoop& loop, HttpCall call, std::uint64_t most_bytes,
                           const CancelToken& cancel);

// The body of a 200 answer; `call` is sent as a GET. Errors: kNetwork (another status, naming it),
// kAuth (401, 403), kNotFound (404), as AskHttp's.
Result<std::string> HttpGet(HttpLoop& loop, HttpCall call, std::uint64_t most_bytes,
                            const CancelToken& cancel);

}  // namespace dossier

#endif  // DOSSIER_BASE_NET_HTTP_GET_H_
