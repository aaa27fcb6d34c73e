// A server between the systems under test and the model: every question of every arm gets a base
// URL of its own, so that what each one sends is counted by the same hand, whatever it says of
// itself.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto proxy, Proxy::Start({.count = counter}));
//   auto question = proxy->Open(upstream, {.calls = 500}, "out/transcripts/q7.jsonl");
//   Run(system, question->url(), upstream.model);     // "http://127.0.0.1:4711/q/8f…/v1"
//   const Traffic traffic = question->Close();        // what is in flight is dropped
//
// Bodies pass byte for byte, but for `temperature`, `seed` and the longest reply where a system
// leaves them out, and the wish for usage in streams, whose event it gets only if it asked for it.
// The key of the model stays here. Only the model that was meant is asked; limits hold.
//
// Ownership: the proxy outlives its questions. Thread-safety: both may be used from many threads.

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

// Where a model answers in OpenAI's form of chat completions.
struct ModelUpstream {
  std::string base_url;              // "https://api.openai.com/v1"
  std::string model;                 // as requests must name it
  std::vector<std::string> headers;  // with the key; never shown or written
};

struct QuestionRules {
  std::int64_t calls = 500;  // further ones are refused
  Millis time{600'000};      // of one request
  // Set where a request leaves them out.
  std::optional<double> temperature;
  std::optional<std::uint64_t> seed;
  std::optional<std::int64_t> max_tokens;
  // kCold: a random first line, so that no cache of the provider helps.
  enum class Cache : std::uint8_t { kWarm, kCold } cache = Cache::kWarm;
};

struct Traffic {
  std::int64_t calls = 0;  // sent to the model
  RowTokens tokens;
  bool limit_met = false;            // a call was refused for its number
  std::int64_t failed = 0;           // not answered: network, 429, 5xx
  std::int64_t context_refused = 0;  // the model said that the prompt is too long
  std::string failure;               // the last of them, in a sentence
};

class ProxyQuestion {
 public:
  virtual ~ProxyQuestion() = default;  // as Close
  virtual const std::string& url() const = 0;
  virtual Traffic Close() = 0;
};

struct ProxyOptions {
  int port = 0;  // 0: any free one
  // Tokens of a text, for replies that do not say; empty: a token is four bytes.
  std::function<std::int64_t(std::string_view)> count;
};

class Proxy {
 public:
  // Errors: kNetwork (port), kUnavailable (libcurl).
  static Result<std::unique_ptr<Proxy>> Start(ProxyOptions options);
  virtual ~Proxy() = default;
  // `transcript`: a file that gets a line of JSON for each request, its body and the reply; empty:
  // none is kept.
  virtual std::unique_ptr<ProxyQuestion> Open(const ModelUpstream& upstream,
                                              const QuestionRules& rules,
                                              const std::string& transcript) = 0;
  // Blocks until the model works on nothing that went through here.
  virtual void WaitUntilIdle() = 0;
};

// `body` as it goes to the model; `usage_added`: the wish for usage was ours. A body that is no
// object stays as it is.
std::string CompleteBody(std::string_view body, const QuestionRules& rules,
                         std::string_view cold_line, bool* usage_added);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_RUN_PROXY_H_
