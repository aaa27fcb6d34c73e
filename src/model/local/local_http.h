// Short questions to the local server, asked and waited for.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto http, LocalHttp::Make(port, key));
//   DOSSIER_ASSIGN_OR_RETURN(LocalHttp::Answer answer, http->Get("/health", Millis(500)));
//
// One connection, kept open; proxies are never used. Thread-safety: calls wait for each other.

#ifndef DOSSIER_MODEL_LOCAL_LOCAL_HTTP_H_
#define DOSSIER_MODEL_LOCAL_LOCAL_HTTP_H_

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace dossier::model {

class LocalHttp {
 public:
  struct Answer {
    int status = 0;
    std::string body;  // at most 16 MiB
  };

  // Errors: kUnavailable if libcurl cannot be loaded.
  static Result<std::unique_ptr<LocalHttp>> Make(int port, const std::string& key);
  virtual ~LocalHttp() = default;

  // Errors: kNetwork (no answer), kTimeout, kTooLong. Any status is an answer.
  virtual Result<Answer> Get(std::string_view target, Millis limit) = 0;
  virtual Result<Answer> Post(std::string_view target, std::string_view json, Millis limit) = 0;
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_LOCAL_HTTP_H_
