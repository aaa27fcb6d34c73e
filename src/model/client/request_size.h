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

#ifndef DOSSIER_MODEL_CLIENT_REQUEST_SIZE_H_
#define DOSSIER_MODEL_CLIENT_REQUEST_SIZE_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "model/client/client.h"
#include "tokens/counter/counter.h"

namespace dossier::model {

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

#endif  // DOSSIER_MODEL_CLIENT_REQUEST_SIZE_H_
