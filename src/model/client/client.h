// The interface of every model: a provider's API, the local server, a scripted model in a test.
//
//   Request request{.model = "gpt-5-mini",
//                   .messages = std::move(prompt),
//                   .purpose = Purpose::kRoot};
//   Result<Reply> reply = gate.Complete(request, ledger, cancel);  // model/client/gate.h
//
// Thread-safety: clients may be used from many threads; requests and replies are plain data.

#ifndef DOSSIER_MODEL_CLIENT_CLIENT_H_
#define DOSSIER_MODEL_CLIENT_CLIENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/messages.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "tokens/counter/counter.h"

namespace dossier::model {

enum class Purpose {
  kRoot,
  kDirect,
  kSubcall,
  kMap,
  kExtract,
  kRepair,
  kCompact,
  kClassify,  // the kind of answer that a question asks for
  kRead,      // what one passage says
  kTest
};
std::string_view PurposeName(Purpose purpose);  // "root"

struct Sampling {
  std::optional<double> temperature, top_p;
  std::optional<std::int64_t> max_output;  // tokens
  std::optional<std::uint64_t> seed;
  std::vector<std::string> stop;  // the reply ends before any of these
  std::string grammar;            // GBNF, for servers that support it; otherwise ignored
  // Number of candidates for the reply's first token, with their log-probabilities; only for models
  // whose entry has logprobs. 0: none.
  int first_tokens = 0;
  JsonObject extra;  // --param K=V, passed through
};

struct Request {
  std::string model;  // the name that the provider knows
  assembly::Messages messages;
  Sampling sampling;
  std::optional<Json> schema;  // JSON Schema for the reply
  // Permission to call the tools of `messages`. With kNone they are still sent, because providers
  // refuse a history with calls of unknown tools, and the cached prefix stays the same. With
  // kRequired the reply must be a call of one of them.
  enum class ToolUse { kAllowed, kNone, kRequired } tool_use = ToolUse::kAllowed;
  // kKept: the reply arrives whole, not streamed, with the provider's own text.
  enum class Raw { kNo, kKept } raw = Raw::kNo;
  Purpose purpose = Purpose::kRoot;
  std::string path = "0";  // place in the tree of calls, for scripts and fairness: "0", "0.3"
  std::int64_t turn = 0;
  std::int64_t estimated_tokens = 0;  // of the prompt alone; 0: not counted
  Millis deadline{300'000};           // of one attempt, from its start
  Millis idle_limit{60'000};          // silence on the wire
};

// kFilter: the provider's rules ended the reply; kRefused: the model declined to answer.
enum class Finish { kStop, kLength, kToolCalls, kFilter, kRefused, kCut, kOther };
std::string_view FinishName(Finish finish);

struct Usage {
  std::int64_t input = 0, output = 0, cached = 0;  // tokens; cached ones are part of input
  // Input tokens written to the provider's cache, and those of them with its second, longer
  // lifetime.
  std::int64_t cache_write = 0, cache_write_long = 0;
  std::optional<std::int64_t> reasoning;      // part of output; unset: not reported
  bool estimated = false;                     // not reported by the provider
  std::optional<std::int64_t> cost_nano_usd;  // unset if a price is unknown
};

struct ToolCall {
  std::string id, name;
  Json arguments;
  Json provider_data;  // as assembly::Block::provider_data
};

// A possible token, and the natural logarithm of its probability.
struct TokenChance {
  std::string token;
  double logprob = 0;
};

struct Reply {
  std::string text, thinking;
  // Candidates for the first token, likeliest first; empty unless Sampling::first_tokens is set.
  std::vector<TokenChance> first_tokens;
  std::vector<ToolCall> tool_calls;
  // All of the above in order of arrival; empty if order and signatures do not matter.
  std::vector<assembly::Block> blocks;
  Finish finish = Finish::kStop;
  Usage usage;
  std::string resolved_model;
  Json provider_data;  // timings of the local server, ids
  std::string raw;     // as the provider sent it, if Request::raw is kKept
  int attempts = 1;    // 1: no retry
  std::vector<std::string> warnings;
};

// Returns what a conversation keeps of a reply: its text, its tool calls, and the thinking that the
// provider needs back with them.
assembly::Turn AssistantTurn(const Reply& reply);

// Details of a failed attempt beyond its Error, which decide about a retry.
struct Failure {
  enum class Retry { kNo, kYes } retry = Retry::kNo;
  int status = 0;                     // HTTP; 0 if no answer arrived
  std::optional<Millis> retry_after;  // requested by the server: Retry-After or its reset headers
  std::optional<Usage> usage;         // cost of the attempt, as far as known
  // kYes: the server may have processed and billed it, although no reply arrived.
  enum class Sent { kNo, kYes } sent = Sent::kNo;
};

// Receives one request's progress. Calls come from one network thread, never concurrently for one
// request; OnDone is called exactly once and last. Must not block.
class Sink {
 public:
  virtual ~Sink() = default;
  // Called by a gate, once, just before the first attempt is sent, possibly before Submit returns.
  // If the request is cancelled when this returns, it is not sent.
  virtual void OnSending() {}
  virtual void OnDelta(std::string_view text) = 0;
  virtual void OnDone(Result<Reply> reply) = 0;
  // Called by clients just before an OnDone with an error; a gate does not pass it on.
  virtual void OnFailure(const Failure& failure) { static_cast<void>(failure); }
  // A retry will follow after `wait`. For progress display and the journal.
  virtual void OnRetry(int attempt, const Error& error, Millis wait) {
    static_cast<void>(attempt), static_cast<void>(error), static_cast<void>(wait);
  }
};

// A connection to one provider. Submit never blocks, and never calls the sink before it returns;
// the sink gets deltas, then a Reply or an Error, once.
//
// Ownership: the last reference must be released on another thread than the client's own, because
// the destructor waits for that thread. So no sink may own the client that calls it (a Gate ensures
// this for its sinks). Errors: kAuth, kRateLimited, kTimeout, kNetwork, kTooLong, kConfig (unknown
// model), kCancelled.
class Client {
 public:
  virtual ~Client() = default;
  virtual void Submit(std::shared_ptr<const Request> request, CancelToken cancel,
                      std::shared_ptr<Sink> sink) = 0;
};

// The total usage of several requests: the one place that adds up every kind of token.
//
//   UsageSum sum;
//   sum.Add(reply.usage);
//   Print(sum.calls, sum.total.input, sum.total.cache_write);
//
// No request costs nothing, so an empty sum costs 0. A cost, or a share of reasoning, that one
// request does not report makes the sum unknown from then on. Thread-safety: plain data.

struct UsageSum {
  std::int64_t calls = 0;
  Usage total{.reasoning = 0, .cost_nano_usd = 0};

  // Adds one more request.
  void Add(const Usage& usage);
  // Adds all requests of another sum.
  void Add(const UsageSum& more);

  std::int64_t tokens() const { return total.input + total.output; }
};

// Calculates how many tokens a request may cost, before and after it was answered.
//
//   RequestSize size(counter);
//   std::int64_t prompt = size.Prompt(request);              // the most that it may have
//   size.Learn({.input = prompt, .output = 300}, reply.usage);
//
// A provider may count more than we do: framing, a schema, another vocabulary. Its replies make
// later numbers larger, so that a reservation that was too small once is not too small again.
//
// Thread-safety: Learn and the numbers it changes are not thread-safe; the other functions are
// const.

// Assumes four bytes per token.
constexpr std::int64_t EstimateTokens(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + 3) / 4);
}

// Number of reply tokens after which a server clearly ignores the cap `cap`.
constexpr std::int64_t MostTaken(std::int64_t cap) { return 2 * cap + 256; }

class RequestSize {
 public:
  // Without a counter, four bytes count as a token.
  explicit RequestSize(std::shared_ptr<const tokens::Counter> counter)
      : counter_(std::move(counter)) {}

  // The expected tokens by our own count.
  std::int64_t Prompt(const Request& request) const;
  std::int64_t Text(std::string_view text) const;
  // Replaces a client's estimate of a reply, because clients have no counter.
  void Recount(Reply* reply) const;

  // The most that a provider may count for a prompt with the Prompt value `expected`.
  std::int64_t MostInput(std::int64_t expected) const;
  // The most that it may count for a reply with the cap `cap`, and the cap for that many.
  std::int64_t MostOutput(std::int64_t cap) const;
  std::int64_t CapFor(std::int64_t most_output) const;

  struct Sent {
    std::int64_t input = 0, cap = 0;  // from Prompt; the reply's cap, 0: none
  };
  // `usage` is what the provider reported.
  void Learn(const Sent& sent, const Usage& usage);
  // `output` tokens arrived by our own count; the provider reported none. A server that ignores the
  // cap may send as many again, however small the next cap is.
  void LearnArrived(const Sent& sent, std::int64_t output);

 private:
  const std::shared_ptr<const tokens::Counter> counter_;
  std::int64_t framing_ = 0;  // tokens per request beyond the share
  double input_share_ = 1, output_share_ = 1;
  std::int64_t most_beyond_cap_ = 0;  // the longest reply that far exceeded its cap
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CLIENT_CLIENT_H_
