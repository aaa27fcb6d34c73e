// Fetches the weights of a model from a URL.
//
//   DOSSIER_ASSIGN_OR_RETURN(FetchResult result,
//                            FetchWeights({.url = "https://host/my.gguf", .sha256 = hex},
//                            data_folder,
//                                         options, cancel));
//
// An interrupted fetch is resumed: DATA/models/FILE.partial, with FILE.partial.json beside it that
// names its source. It is only resumed if the server reports the file unchanged (ETag) or a SHA-256
// will prove it. The final name appears only for a whole GGUF file with the right hash.
//
// Redirects are followed over https only, and no key is sent. http:// is for this machine only.
//
// Thread-safety: functions; a lock file allows only one pull at a time.

#ifndef DOSSIER_MODEL_LOCAL_LOCAL_FETCH_H_
#define DOSSIER_MODEL_LOCAL_LOCAL_FETCH_H_

#include <string>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "model/local/local_pull.h"

namespace dossier::model {

struct FetchSource {
  std::string url;     // its last segment, without the query, is the file's name: "my.gguf"
  std::string sha256;  // 64 hex digits; empty: not checked
};

struct FetchOptions {
  std::function<void(const PullProgress&)> progress;  // may be empty
  std::optional<std::uint64_t> free;                  // bytes of disk; unset: asks the file system
  Millis idle_limit{60'000};                          // silence of the server
  Millis first_delay{1000};  // before resuming after a break; doubled each time, at most five times
};

struct FetchResult {
  Weights weights;
  std::string sha256;  // of the file; empty if it existed already and no hash was given
  PullResult::Outcome outcome = PullResult::Outcome::kFetched;
};

// Errors: kInvalidArgument (an invalid address or hash), kNetwork (host, port, cause; what arrived
// is kept), kNotFound and kAuth (status 404, 401 and 403), kIo (too little space, naming the
// missing bytes; disk full), kDamaged (wrong hash: expected and actual; not a GGUF file), kLocked,
// kCancelled. After kIo and kDamaged nothing is left.
Result<FetchResult> FetchWeights(const FetchSource& source, const std::string& data_folder,
                                 const FetchOptions& options, const CancelToken& cancel);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_LOCAL_FETCH_H_
