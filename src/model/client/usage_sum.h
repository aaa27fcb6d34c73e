// What several requests took together: the one sum of the program, over every kind of token.
//
//   UsageSum sum;
//   sum.Add(reply.usage);
//   Print(sum.calls, sum.total.input, sum.total.cache_write);
//
// No request costs nothing, so an empty sum has a cost of 0. A cost, or a share of reasoning, that
// one request does not tell is unknown for the sum from then on.
// Thread-safety: plain data.

#ifndef DOSSIER_MODEL_CLIENT_USAGE_SUM_H_
#define DOSSIER_MODEL_CLIENT_USAGE_SUM_H_

#include <cstdint>

#include "model/client/client.h"

namespace dossier::model {

struct UsageSum {
  std::int64_t calls = 0;
  Usage total{.reasoning = 0, .cost_nano_usd = 0};

  // One more request.
  void Add(const Usage& usage);
  // All requests of another sum.
  void Add(const UsageSum& more);

  std::int64_t tokens() const { return total.input + total.output; }
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CLIENT_USAGE_SUM_H_
