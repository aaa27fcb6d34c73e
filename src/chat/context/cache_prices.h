// Prices of a model's cache over those of plain input, for the limits of compaction.
//
//   PlanCompaction(stored, limits, CachePricesOf(model.entry), size, counter, ByHand::kNo);
//
// Thread-safety: pure.

#ifndef DOSSIER_CHAT_CONTEXT_CACHE_PRICES_H_
#define DOSSIER_CHAT_CONTEXT_CACHE_PRICES_H_

#include "chat/context/compact.h"
#include "model/catalog/catalog.h"

namespace dossier::chat {

CachePrices CachePricesOf(const model::Entry& entry);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_CACHE_PRICES_H_
