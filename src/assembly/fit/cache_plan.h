// Where a provider is asked to cache the prefix of a prompt.
//
//   const CachePlan plan = PlanCache(parts, layout.cache, capability, counter, &messages);
//
// Only providers with explicit breakpoints get any; what decides is data (CacheRules), and the
// fields are written by the model client that knows them. Thread-safety: pure function over its
// arguments.

#ifndef DOSSIER_ASSEMBLY_FIT_CACHE_PLAN_H_
#define DOSSIER_ASSEMBLY_FIT_CACHE_PLAN_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/fit/part.h"
#include "tokens/counter/counter.h"

namespace dossier::assembly {

struct CachePoint {
  std::string_view after;          // system, stable, history, newest, step
  std::int64_t prefix_tokens = 0;  // of all that stands before the point, framing included
  std::string ttl;                 // lifetime asked for; empty if not placed
  std::string_view why;            // below-minimum, no-slot; empty if placed
};

struct CachePlan {
  std::vector<CachePoint> points;  // in prompt order
  std::vector<Warning> warnings;
};

// Sets Block::cache behind the chosen places.
CachePlan PlanCache(std::span<const Part> parts, const LayoutCache& wanted,
                    const Capability& capability, const tokens::Counter& counter,
                    Messages* messages);

std::string_view CacheModeName(CacheRules::Mode mode);  // "explicit"

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_CACHE_PLAN_H_
