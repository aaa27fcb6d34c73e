// Work that is done in slots, some of them at the same time.
//
//   DOSSIER_RETURN_IF_ERROR(RunSlots({.count = picks.size(), .parallel = 4},
//       [&](std::size_t slot, const CancelToken& cancel) { return Make(picks[slot], cancel); },
//       cancel));
//
// Slots start in their order. The first one that fails cancels those that run, and no other starts;
// its error is what is returned, not the cancellation of the others.
//
// Thread-safety: blocks its caller until no slot runs any more.

#ifndef DOSSIER_RESEARCH_SEARCH_SLOTS_H_
#define DOSSIER_RESEARCH_SEARCH_SLOTS_H_

#include <cstddef>
#include <functional>

#include "base/cancel.h"
#include "base/result.h"

namespace dossier::research {

struct SlotPlan {
  std::size_t count = 0;
  int parallel = 1;  // at once; 1: on the caller's thread
};

using SlotWork = std::function<Status(std::size_t slot, const CancelToken& cancel)>;

Status RunSlots(const SlotPlan& plan, const SlotWork& work, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_SLOTS_H_
