// One interface for every model: a provider's API, the local server, a scripted model in a test.
//
//   Request request{.model = "gpt-5-mini",
//                   .messages = std::move(prompt),
//                   .purpose = Purpose::kRoot};
//   Result<Reply> reply = gate.Complete(request, ledger, cancel);  // model/client/gate.h
//
// Thread-safety: clients are used from many threads; requests and replies are plain data.

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
  kClassify,  // what kind of answer a question asks for
  kRead,      // what one passage says
  kTest
};
std::string_view PurposeName(Purpose purpose);  // "root"

struct Sampling {
  std::optional<double> temperature, top_p;
  std::optional<std::int64_t> max_output;  // tokens
  std::optional<std::uint64_t> seed;
  std::vector<std::string> stop;  // the reply ends before any of these
  std::string grammar;            // GBNF, for servers that offer it; else ignored
  // How many candidates for the reply's first token are wanted, with their log-probabilities; for
  // models whose entry says that they tell. 0: none.
  int first_tokens = 0;
  JsonObject extra;  // --param K=V, passed through
};

struct Request {
  std::string model;  // the name that the provider knows
  assembly::Messages messages;
  Sampling sampling;
  std::optional<Json> schema;  // JSON Schema for the reply
  // Whether the tools of `messages` may be called. With kNone they are still sent: providers refuse
  // a history with calls of tools that they were not told of, and the cached prefix stays.
  // With kRequired the reply is a call of one of them.
  enum class ToolUse { kAllowed, kNone, kRequired } tool_use = ToolUse::kAllowed;
  // kKept: the reply comes whole, not streamed, with the provider's own text.
  enum class Raw { kNo, kKept } raw = Raw::kNo;
  Purpose purpose = Purpose::kRoot;
  std::string path = "0";  // place in the tree of calls, for scripts and fairness: "0", "0.3"
  std::int64_t turn = 0;
  std::int64_t estimated_tokens = 0;  // of the prompt alone; 0: nobody counted it
  Millis deadline{300'000};           // of one attempt, from its start
  Millis idle_limit{60'000};          // silence on the wire
};

enum class Finish { kStop, kLength, kToolCalls, kFilter, kCut, kOther };
std::string_view FinishName(Finish finish);

struct Usage {
  std::int64_t input = 0, output = 0, cached = 0;  // tokens; cached ones are part of input
  // Tokens of input that were written to the provider's cache, and those of them with its second,
  // longer lifetime.
  std::int64_t cache_write = 0, cache_write_long = 0;
  std::optional<std::int64_t> reasoning;      // part of output; unset: the provider does not say
  bool estimated = false;                     // the provider did not say
  std::optional<std::int64_t> cost_nano_usd;  // unset if a price is unknown
};

struct ToolCall {
  std::string id, name;
  Json arguments;
  Json provider_data;  // as assembly::Block::provider_data
};

// A token that could have come, and the natural logarithm of its probability.
struct TokenChance {
  std::string token;
  double logprob = 0;
};

struct Reply {
  std::string text, thinking;
  // Candidates for the first token, the likeliest first; empty unless Sampling::first_tokens asked.
  std::vector<TokenChance> first_tokens;
  std::vector<ToolCall> tool_calls;
  // All of the above in the order in which it came; empty where order and signatures do not matter.
  std::vector<assembly::Block> blocks;
  Finish finish = Finish::kStop;
  Usage usage;
  std::string resolved_model;
  Json provider_data;  // timings of the local server, ids
  std::string raw;     // as the provider sent it, if Request::raw asks for it
  int attempts = 1;    // 1: no retry
  std::vector<std::string> warnings;
};

// What a conversation keeps of a reply: its text, its tool calls, and the thinking that the
// provider wants back with them.
assembly::Turn AssistantTurn(const Reply& reply);

// What is known about a failed attempt beyond its Error: decides about another one.
struct Failure {
  enum class Retry { kNo, kYes } retry = Retry::kNo;
  int status = 0;                     // HTTP; 0 if no answer arrived
  std::optional<Millis> retry_after;  // the server's wish: Retry-After or its reset headers
  std::optional<Usage> usage;         // what the attempt cost, as far as known
  // kYes: the server may have worked on it, and may bill it, though no reply came.
  enum class Sent { kNo, kYes } sent = Sent::kNo;
};

// Receives one request's progress. Calls come from one network thread, never at the same time for
// one request; OnDone comes exactly once and is the last. Must not block.
class Sink {
 public:
  virtual ~Sink() = default;
  // From a gate, once, when the first attempt is about to leave; it may come before Submit returns.
  // Where the request is cancelled when this returns, it does not leave.
  virtual void OnSending() {}
  virtual void OnDelta(std::string_view text) = 0;
  virtual void OnDone(Result<Reply> reply) = 0;
  // Comes just before an OnDone with an error, from clients; a gate keeps it to itself.
  virtual void OnFailure(const Failure& failure) { static_cast<void>(failure); }
  // A retry will follow after `wait`. For progress and the journal.
  virtual void OnRetry(int attempt, const Error& error, Millis wait) {
    static_cast<void>(attempt), static_cast<void>(error), static_cast<void>(wait);
  }
};

// One provider. Submit never blocks, and never calls the sink before it returns; the sink gets
// deltas, then a Reply or an Error, once.
//
// Ownership: the last owner lets go of a client on a thread that is not the client's own, because
// the destructor waits for that thread. So no sink owns the client that calls it (a Gate sees to
// that for its sinks).
// Errors: kAuth, kRateLimited, kTimeout, kNetwork, kTooLong, kConfig (unknown model), kCancelled.
class Client {
 public:
  virtual ~Client() = default;
  virtual void Submit(std::shared_ptr<const Request> request, CancelToken cancel,
                      std::shared_ptr<Sink> sink) = 0;
};

// What several requests took together: the one sum of the program, over every kind of token.
//
//   UsageSum sum;
//   sum.Add(reply.usage);
//   Print(sum.calls, sum.total.input, sum.total.cache_write);
//
// No request costs nothing, so an empty sum has a cost of 0. A cost, or a share of reasoning, that
// one request does not tell is unknown for the sum from then on.
// Thread-safety: plain data.

struct UsageSum {
  std::int64_t calls = 0;
  Usage total{.reasoning = 0, .cost_nano_usd = 0};

  // One more request.
  void Add(const Usage& usage);
  // All requests of another sum.
  void Add(const UsageSum& more);

  std::int64_t tokens() const { return total.input + total.output; }
};

// How many tokens a request may cost, before and after it was answered.
//
//   RequestSize size(counter);
//   std::int64_t prompt = size.Prompt(request);              // the most that it may have
//   size.Learn({.input = prompt, .output = 300}, reply.usage);
//
// A provider may count more than we do: framing, a schema, another vocabulary. What its replies say
// makes later numbers larger, so that a reservation that was too small once is not so again.
//
// Thread-safety: none for Learn and the numbers that it changes; the other functions are const.

// Four bytes are taken for a token.
constexpr std::int64_t EstimateTokens(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + 3) / 4);
}

// Tokens of a reply after which it is clear that a server ignores the cap `cap`.
constexpr std::int64_t MostTaken(std::int64_t cap) { return 2 * cap + 256; }

class RequestSize {
 public:
  // Without a counter four bytes are taken for a token.
  explicit RequestSize(std::shared_ptr<const tokens::Counter> counter)
      : counter_(std::move(counter)) {}

  // What is expected, by our own count.
  std::int64_t Prompt(const Request& request) const;
  std::int64_t Text(std::string_view text) const;
  // Replaces a client's estimate of a reply: a client has no counter.
  void Recount(Reply* reply) const;

  // The most that a provider may count for a prompt for which Prompt says `expected`.
  std::int64_t MostInput(std::int64_t expected) const;
  // The most that it may count for a reply with the cap `cap`, and the cap for so many.
  std::int64_t MostOutput(std::int64_t cap) const;
  std::int64_t CapFor(std::int64_t most_output) const;

  struct Sent {
    std::int64_t input = 0, cap = 0;  // by Prompt; the cap of the reply, 0: none
  };
  // `usage` is what the provider said.
  void Learn(const Sent& sent, const Usage& usage);
  // `output` tokens came, by our own count, as the provider said none. A server that ignores the
  // cap may send as many again, however small the next cap is.
  void LearnArrived(const Sent& sent, std::int64_t output);

 private:
  const std::shared_ptr<const tokens::Counter> counter_;
  std::int64_t framing_ = 0;  // tokens of each request beyond the share
  double input_share_ = 1, output_share_ = 1;
  std::int64_t most_beyond_cap_ = 0;  // the longest reply that was far beyond its cap
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CLIENT_CLIENT_H_
