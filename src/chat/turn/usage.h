// What a turn cost, and what the frozen context saved.
//
//   UsageLine(usage, SavedBy(80, 5))
//   // "usage: 1,234 in (1,024 cached) + 56 out = $0.001234; context saved 800 tokens (66.7 %)"
//
// The baseline of every saving is the same configuration with `dynamic: true, persist: true`: a
// copy of the context in each message of the user, all of them sent again every turn.
// Thread-safety: pure.

#ifndef DOSSIER_CHAT_TURN_USAGE_H_
#define DOSSIER_CHAT_TURN_USAGE_H_

#include <cstdint>
#include <string>

#include "base/json/json.h"
#include "model/client/client.h"

namespace dossier::chat {

struct ContextSaving {
  std::int64_t tokens = 0;  // of input that were not sent
  double percent = 0;       // of what the baseline would have sent of the context
};
// A context of `block_tokens` over `turns` turns: b·N(N−1)/2 of b·N(N+1)/2.
ContextSaving SavedBy(std::int64_t block_tokens, std::int64_t turns);

// Share of the stored copies that are saved, in percent: (N−1)/N.
double StoredSaving(std::int64_t turns);

// Price of the context over `turns` turns, in prices of plain input for one copy, with a cache that
// writes at `write` and reads at `read`.
struct CachedCost {
  double frozen = 0, baseline = 0;
};
CachedCost CachedCostOf(std::int64_t turns, double write, double read);

// {"input","cached_read","cache_write","output","reasoning","cost_nano_usd"} for turns[].usage;
// null is what is not known: a price, or the share of reasoning where the provider does not tell
// it.
JsonObject UsageJson(const model::Usage& usage);
std::string UsageLine(const model::Usage& usage, const ContextSaving& saving);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_USAGE_H_
