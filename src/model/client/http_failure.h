// Turns a provider's HTTP answer into an error of ours, with whether and when to try again.
//
//   HttpFailure failed = MapHttpFailure({.status = 429, .headers = {{"retry-after", "1"}}}, where);
//   sink->OnFailure(failed.failure);
//   sink->OnDone(tl::unexpected(failed.error));
//
// Thread-safety: pure functions.

#ifndef DOSSIER_MODEL_CLIENT_HTTP_FAILURE_H_
#define DOSSIER_MODEL_CLIENT_HTTP_FAILURE_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "model/client/client.h"

namespace dossier::model {

struct ProviderAnswer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in any case
  std::string body;                                          // hostile
};

// Whom an error is about.
struct FailureTarget {
  std::string provider, model;
  std::string key_source;           // "OPENAI_API_KEY"; never the key
  std::string key;                  // removed wherever it occurs in a message
  std::vector<std::string> models;  // for the nearest names
  std::int64_t window = 0, prompt_tokens = 0;
  std::string way_out;  // for a prompt that is too long, beside a larger window: " or …"
};

struct HttpFailure {
  Error error;
  Failure failure;
};

HttpFailure MapHttpFailure(const ProviderAnswer& answer, const FailureTarget& target,
                           Clock::Wall now);

// The longest wait that the headers ask for: Retry-After (seconds or date), retry-after-ms,
// x-ratelimit-reset-requests and -tokens ("1s", "6m0s").
std::optional<Millis> RetryAfter(const ProviderAnswer& answer, Clock::Wall now);

// Shorter keys and values of headers ("1", "eu") stand in any text.
inline constexpr std::size_t kShortestSecret = 8;
inline constexpr std::string_view kInsteadOfKey = "[redacted:key]";
// An error's text without the key; a short one is taken out where it stands as a word of its own.
std::string WithoutKey(std::string_view text, std::string_view key);

// The first 200 characters of `body`, on one line, valid UTF-8, without secrets.
std::string Excerpt(std::string_view body, std::string_view key);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CLIENT_HTTP_FAILURE_H_
