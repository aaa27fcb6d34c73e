#include "model/schema/schema_fetch.h"

#include "base/net/http_get.h"

namespace dossier::model {

Result<SchemaSource::Fetch> FetchByHttp() {
  DOSSIER_ASSIGN_OR_RETURN(std::shared_ptr<HttpLoop> loop, HttpLoop::Make());
  return [loop](const std::string& url, Millis limit, std::uint64_t most_bytes,
                const CancelToken& cancel) -> Result<std::string> {
    return HttpGet(
        *loop,
        {.url = url,
         .headers = {"Accept: application/schema+json, application/json", "User-Agent: dossier"},
         .deadline = limit,
         .idle_limit = limit},
        most_bytes, cancel);
  };
}

}  // namespace dossier::model
