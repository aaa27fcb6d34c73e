// What of a resource is shown in which phase, and how much: one table.
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

// 0: nothing; -1: whole.
struct ItemLimits {
  std::int64_t files = 0, chars = 0, total_chars = 0;
};
ItemLimits LimitsOf(const ResourceItem& item);

// The flag of an item wins over class and phase.
bool ShowsTree(const ResourceItem& item, Phase phase);
bool ShowsContent(const ResourceItem& item, Phase phase);
// In any phase.
bool EverShowsTree(const ResourceItem& item);
bool EverShowsContent(const ResourceItem& item);

// One sentence for a model: how this class is to be used.
std::string_view GuidanceOf(ResourceClass kind);
// Copied into the run folder.
bool IsStaged(ResourceClass kind);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RESOURCES_RESOURCE_POLICY_H_
