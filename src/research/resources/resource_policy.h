// The table of which parts of a resource are shown in which phase, and how much of them.
//
//   const ItemLimits limits = LimitsOf(item);
//   if (ShowsTree(item, Phase::kPlan)) …
//
// Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_RESOURCES_RESOURCE_POLICY_H_
#define DOSSIER_RESEARCH_RESOURCES_RESOURCE_POLICY_H_

#include <cstdint>
#include <string_view>

#include "research/resources/resources.h"

namespace dossier::research {

// 0: nothing; -1: everything.
struct ItemLimits {
  std::int64_t files = 0, chars = 0, total_chars = 0;
};
ItemLimits LimitsOf(const ResourceItem& item);

// An item's flag takes precedence over class and phase.
bool ShowsTree(const ResourceItem& item, Phase phase);
bool ShowsContent(const ResourceItem& item, Phase phase);
// Return true if it is shown in any phase.
bool EverShowsTree(const ResourceItem& item);
bool EverShowsContent(const ResourceItem& item);

// Returns one sentence that tells a model how to use this class.
std::string_view GuidanceOf(ResourceClass kind);
// Returns true if resources of this class are copied into the run folder.
bool IsStaged(ResourceClass kind);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RESOURCES_RESOURCE_POLICY_H_
