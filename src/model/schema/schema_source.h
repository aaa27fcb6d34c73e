// Loads a JSON Schema from text, a file, or a URL with a cached copy.
//
//   SchemaSource source{.folders = {cwd, cwd + "/.dossier"}, .cache_folder = cache + "/schemas"};
//   source.rules = SchemaRulesOf(environment);
//   DOSSIER_ASSIGN_OR_RETURN(source.fetch, FetchByHttp());
//   DOSSIER_ASSIGN_OR_RETURN(const FoundSchema found, source.Find("review.json", cancel));
//   Say(found.warnings);  Use(found.schema);
//
// Thread-safety: const methods may be called from any thread if `fetch` may; several processes may
// share a cache folder.

#ifndef DOSSIER_MODEL_SCHEMA_SCHEMA_SOURCE_H_
#define DOSSIER_MODEL_SCHEMA_SCHEMA_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "model/schema/json_schema.h"

namespace dossier::model {

struct SchemaRules {
  enum class Network { kAllowed, kOffline } network = Network::kAllowed;
  enum class PlainHttp { kRefused, kAllowed } plain_http = PlainHttp::kRefused;
  std::chrono::seconds time_to_live{86'400};  // of a cached copy
  std::uint64_t most_bytes = 1 << 20;
  Millis limit{10'000};  // per transfer
};

// Reads ALLOW_HTTP_SCHEMAS, SCHEMA_CACHE_TTL (seconds), OFFLINE_MODE and MAX_SCHEMA_SIZE (bytes),
// each as DOSSIER_NAME, else as CLLM_NAME. Errors: kConfig naming the variable.
Result<SchemaRules> SchemaRulesOf(
    const std::function<std::optional<std::string>(std::string_view)>& environment);

struct FoundSchema {
  JsonSchema schema;
  std::string origin;  // path or URL
  std::vector<std::string> warnings;
};

struct SchemaSource {
  // The body of a GET answered with 200. Errors: kNetwork, kTimeout, kTooLong, kCancelled.
  using Fetch = std::function<Result<std::string>(const std::string& url, Millis limit,
                                                  std::uint64_t most_bytes, const CancelToken&)>;

  std::vector<std::string> folders;  // searched in this order for a relative path
  std::string cache_folder;
  SchemaRules rules;
  Fetch fetch;  // unset: as if offline
  std::shared_ptr<const Clock> clock = SystemClock();

  // `place` is a path or a URL. Errors: kNotFound (with the places searched); kConfig: not JSON,
  // not a schema, too large, a URL that is not allowed; kNetwork: no answer and no copy.
  Result<FoundSchema> Find(std::string_view place, const CancelToken& cancel) const;
};

// Reads a schema given as text: JSON, or the fields of an object, as in "name, age int: in years,
// tame bool" (str, int, float or bool; default str). Errors: kConfig.
Result<FoundSchema> SchemaOfText(std::string_view text, std::string_view origin);

// Returns a function that sends a GET; redirects are not followed. Only this call loads libcurl,
// because most runs need no network for a schema. Errors: kUnavailable (libcurl).
Result<SchemaSource::Fetch> FetchByHttp();

// One line for the schema, one per property: "name: type (required|optional)" (--validate-schema).
std::string DescribeSchema(const JsonSchema& schema);
// The same as data: {"type", "properties": [{"name", "type", "required"}]}.
JsonObject OutlineSchema(const JsonSchema& schema);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SCHEMA_SCHEMA_SOURCE_H_
