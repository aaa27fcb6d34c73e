// Converts a provider's HTTP answer to one of our errors; decides whether and when to retry.
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
  std::vector<std::pair<std::string, std::string>> headers;  // names in any letter case
  std::string body;                                          // hostile
};

// The provider and model that an error is about.
struct FailureTarget {
  std::string provider, model;
  std::string key_source;           // "OPENAI_API_KEY"; never the key
  std::string key;                  // removed from all messages
  std::vector<std::string> models;  // to suggest the nearest names
  std::int64_t window = 0, prompt_tokens = 0;
  std::string way_out;  // advice for a prompt that is too long, beside a larger window: " or …"
};

struct HttpFailure {
  Error error;
  Failure failure;
};

HttpFailure MapHttpFailure(const ProviderAnswer& answer, const FailureTarget& target,
                           Clock::Wall now);

// Returns the longest wait in the headers: Retry-After (seconds or date), retry-after-ms,
// x-ratelimit-reset-requests and -tokens ("1s", "6m0s").
std::optional<Millis> RetryAfter(const ProviderAnswer& answer, Clock::Wall now);

// Shorter keys and header values ("1", "eu") may occur in any text.
inline constexpr std::size_t kShortestSecret = 8;
inline constexpr std::string_view kInsteadOfKey = "[redacted:key]";
// Returns an error's text without the key; a short key is only removed where it is a whole word.
std::string WithoutKey(std::string_view text, std::string_view key);

// Returns the first 200 characters of `body` on one line, as valid UTF-8, without secrets.
std::string Excerpt(std::string_view body, std::string_view key);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CLIENT_HTTP_FAILURE_H_
