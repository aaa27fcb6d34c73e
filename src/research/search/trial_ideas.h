// What the slots of stages 2 and 4 try: one idea a slot, asked one after another, so that each
// knows of those before it, pending ones too.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::optional<TrialIdea> idea,
//                            AskTrialIdea(driver, {.tree = &tree, .node = &node, .base = &best,
//                                                  .pending = pending}, cancel));
//   if (!idea) continue;          // five bad replies: the slot stays empty
//
// Errors: those of Caller::Call. Thread-safety: blocks its caller.

#ifndef DOSSIER_RESEARCH_SEARCH_TRIAL_IDEAS_H_
#define DOSSIER_RESEARCH_SEARCH_TRIAL_IDEAS_H_

#include <optional>
#include <span>

#include "research/node/driver.h"
#include "research/node/node_request.h"

namespace dossier::research {

struct TrialQuestion {
  const Tree* tree = nullptr;
  const Node* node = nullptr;  // of the slot: kTuning or kAblation
  const Node* base = nullptr;
  std::span<const TrialIdea> pending;  // of this round's earlier slots
  int stage = 2;
};

Result<std::optional<TrialIdea>> AskTrialIdea(const Driver& driver, const TrialQuestion& question,
                                              const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_TRIAL_IDEAS_H_
