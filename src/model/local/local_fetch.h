// Fetching the weights of a model from an address.
//
//   DOSSIER_ASSIGN_OR_RETURN(FetchResult result,
//                            FetchWeights({.url = "https://host/my.gguf", .sha256 = hex},
//                            data_folder,
//                                         options, cancel));
//
// An interrupted fetch goes on where it was: DATA/models/FILE.partial, with FILE.partial.json
// beside it that says of what. It goes on only with a file that the server calls unchanged (ETag)
// or that a SHA-256 will prove. The finished name appears only for a whole GGUF file with the right
// hash.
//
// Redirects are followed, over https only: no key is sent. http:// is for this machine alone.
//
// Thread-safety: functions; a lock file lets one pull run at a time.

#ifndef DOSSIER_MODEL_LOCAL_LOCAL_FETCH_H_
#define DOSSIER_MODEL_LOCAL_LOCAL_FETCH_H_

#include <string>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "model/local/local_pull.h"

namespace dossier::model {

struct FetchSource {
  std::string url;     // its last segment, without a query, is the file's name: "my.gguf"
  std::string sha256;  // 64 hex digits; empty: whatever arrives
};

struct FetchOptions {
  std::function<void(const PullProgress&)> progress;  // may be empty
  std::optional<std::uint64_t> free;  // bytes of disk; unset: asked of the file system
  Millis idle_limit{60'000};          // silence of the server
  Millis first_delay{1000};  // before going on after a break; doubled, as often as five times
};

struct FetchResult {
  Weights weights;
  std::string sha256;  // of the file; empty if one without a given hash was here already
  PullResult::Outcome outcome = PullResult::Outcome::kFetched;
};

// Errors: kInvalidArgument (an address or hash that is none), kNetwork (host, port, cause; what
// arrived is kept), kNotFound and kAuth (status 404, 401 and 403), kIo (too little space, naming
// what is missing; disk full), kDamaged (wrong hash: expected and got; no GGUF file), kLocked,
// kCancelled. After kIo and kDamaged nothing is left.
Result<FetchResult> FetchWeights(const FetchSource& source, const std::string& data_folder,
                                 const FetchOptions& options, const CancelToken& cancel);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_LOCAL_FETCH_H_
