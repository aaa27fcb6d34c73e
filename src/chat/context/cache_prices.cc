#include "chat/context/cache_prices.h"

namespace dossier::chat {

CachePrices CachePricesOf(const model::Entry& entry) {
  CachePrices prices;
  const assembly::CacheRules& cache = entry.capability.cache;
  if (cache.mode != assembly::CacheRules::Mode::kNone) {
    prices.read = cache.read;
    if (!cache.write.empty()) prices.write = cache.write.front();
  }
  if (entry.price_input && entry.price_output && *entry.price_input > 0) {
    prices.output =
        static_cast<double>(*entry.price_output) / static_cast<double>(*entry.price_input);
  }
  return prices;
}

}  // namespace dossier::chat
