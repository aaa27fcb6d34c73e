// Runs work in slots, some of them concurrently.
//
//   DOSSIER_RETURN_IF_ERROR(RunSlots({.count = picks.size(), .parallel = 4},
//       [&](std::size_t slot, const CancelToken& cancel) { return Make(picks[slot], cancel); },
//       cancel));
//
// Slots start in order. The first failure cancels the running slots, and no others start; its error
// is returned, not the cancellation of the others.
//
// Thread-safety: blocks the caller until no slot is running.

#ifndef DOSSIER_RESEARCH_SEARCH_SLOTS_H_
#define DOSSIER_RESEARCH_SEARCH_SLOTS_H_

#include <cstddef>
#include <functional>

#include "base/cancel.h"
#include "base/result.h"

namespace dossier::research {

struct SlotPlan {
  std::size_t count = 0;
  int parallel = 1;  // concurrent slots; 1: on the caller's thread
};

using SlotWork = std::function<Status(std::size_t slot, const CancelToken& cancel)>;

Status RunSlots(const SlotPlan& plan, const SlotWork& work, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_SLOTS_H_
