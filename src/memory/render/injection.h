// Memory for one prompt of a driver, in two texts: core, which stays the same bytes until core
// changes, and the rest, which is about this query. So a provider's cache keeps the prefix.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Injection memory,
//       Inject(view, limits, {.render = {.query = user_turn, .budget = {.chars = 24'000}}}));
//   prompt.stable = memory.core, prompt.later = memory.rest;
//   journal(AccountingJson(memory.accounting));
//
// Thread-safety: plain data; pure but for the reads of the view.

#ifndef DOSSIER_MEMORY_RENDER_INJECTION_H_
#define DOSSIER_MEMORY_RENDER_INJECTION_H_

#include <cstdint>
#include <set>
#include <string>

#include "memory/render/render.h"

namespace dossier::memory {

struct InjectionRequest {
  RenderRequest render;  // its budget is that of both texts; core takes from it first
  // Records that the prompt holds already, as turns of its history: they are not said twice, and
  // the window holds as many others.
  std::set<std::int64_t> elsewhere;
};

struct Injection {
  std::string core;  // Resource Index and Core Memory
  std::string rest;  // Recall, Archival and Resource Memory; status line and help, if asked for
  RenderAccounting accounting;
};

// Errors: as Render.
Result<Injection> Inject(const View& view, const StoreLimits& limits,
                         const InjectionRequest& request);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RENDER_INJECTION_H_
