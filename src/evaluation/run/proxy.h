// A server between the systems under test and the model: every question of every arm gets its own
// base URL, so that the traffic of all systems is counted in the same way, whatever they report.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto proxy, Proxy::Start({.count = counter}));
//   auto question = proxy->Open(upstream, {.calls = 500}, "out/transcripts/q7.jsonl");
//   Run(system, question->url(), upstream.model);     // "http://127.0.0.1:4711/q/8f…/v1"
//   const Traffic traffic = question->Close();        // what is in flight is dropped
//
// Bodies pass unchanged, except that `temperature`, `seed` and the reply limit are added if a
// system leaves them out, and streams always request usage; the system gets the usage event only if
// it asked for it. The model's key stays in this process. Only the intended model is asked; limits
// are enforced.
//
// Ownership: the proxy must outlive its questions. Thread-safety: both may be used from many
// threads.

#ifndef DOSSIER_EVALUATION_RUN_PROXY_H_
#define DOSSIER_EVALUATION_RUN_PROXY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "evaluation/run/rows.h"

namespace dossier::evaluation {

// An endpoint where a model answers OpenAI chat completions.
struct ModelUpstream {
  std::string base_url;              // "https://api.openai.com/v1"
  std::string model;                 // as requests must name it
  std::vector<std::string> headers;  // including the key; never shown or written
};

struct QuestionRules {
  std::int64_t calls = 500;  // calls beyond this number are refused
  Millis time{600'000};      // for one request
  // Added to requests that leave them out.
  std::optional<double> temperature;
  std::optional<std::uint64_t> seed;
  std::optional<std::int64_t> max_tokens;
  // kCold: adds a random first line, so that the provider's cache cannot help.
  enum class Cache : std::uint8_t { kWarm, kCold } cache = Cache::kWarm;
};

struct Traffic {
  std::int64_t calls = 0;  // sent to the model
  RowTokens tokens;
  bool limit_met = false;            // a call was refused because of the number
  std::int64_t failed = 0;           // not answered: network error, 429, 5xx
  std::int64_t context_refused = 0;  // the model said that the prompt is too long
  std::string failure;               // the last failure, in a sentence
};

class ProxyQuestion {
 public:
  virtual ~ProxyQuestion() = default;  // as Close
  virtual const std::string& url() const = 0;
  virtual Traffic Close() = 0;
};

struct ProxyOptions {
  int port = 0;  // 0: any free one
  // Counts the tokens of replies that do not report them; empty: four bytes per token.
  std::function<std::int64_t(std::string_view)> count;
};

class Proxy {
 public:
  // Errors: kNetwork (port), kUnavailable (libcurl).
  static Result<std::unique_ptr<Proxy>> Start(ProxyOptions options);
  virtual ~Proxy() = default;
  // `transcript`: a file that gets one JSON line per request with its body and reply; empty: none.
  virtual std::unique_ptr<ProxyQuestion> Open(const ModelUpstream& upstream,
                                              const QuestionRules& rules,
                                              const std::string& transcript) = 0;
  // Blocks until the model processes no request that came through here.
  virtual void WaitUntilIdle() = 0;
};

// Returns `body` as it is sent to the model. Sets `usage_added` if we added the request for usage.
// A body that is not an object is returned unchanged.
std::string CompleteBody(std::string_view body, const QuestionRules& rules,
                         std::string_view cold_line, bool* usage_added);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_RUN_PROXY_H_
