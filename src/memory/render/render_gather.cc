// What of a view could stand in a prompt.

#include <algorithm>
#include <numeric>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "memory/blocks/results_text.h"
#include "memory/consolidate/pressure.h"
#include "memory/render/render.h"

namespace dossier::memory {
namespace {

constexpr std::string_view kResourceTag = "RESOURCE_ITEM";
constexpr std::int64_t kResourceChars = 1200;

// Harmless, valid, further lines indented: nothing stored can look like a section of its own.
std::string Lines(std::string_view text) {
  std::string clean = Harmless(text);
  if (!utf8::IsValid(clean)) clean = utf8::Sanitize(clean);
  return ReplaceAll(clean, "\n", "\n  ");
}

bool IsResource(const Record& record) {
  return std::ranges::find(record.tags, kResourceTag) != record.tags.end();
}

MemoryItem RecordItem(std::string_view head, const Record& record, std::string_view text) {
  MemoryItem item{.id = fmt::format("#{}", record.id),
                  .text = fmt::format("- {}{}", head, Lines(text)),
                  .tail = fmt::format(" {{#{}}}", record.id)};
  if (!record.tags.empty()) {
    item.more = fmt::format(" (tags: {})", Lines(Join(record.tags, ", ")));
  }
  return item;
}

void TakeInOrder(MemoryMaterial::Part& part) {
  part.taking.resize(part.items.size());
  std::iota(part.taking.begin(), part.taking.end(), std::size_t{0});
}

// Printed by key, taken by importance.
MemoryMaterial::Part CorePart(const std::vector<CoreEntry>& entries) {
  MemoryMaterial::Part part;
  std::vector<int> importance;
  for (const CoreEntry& entry : entries) {
    if (IsHiddenKey(entry.key)) continue;
    part.items.push_back(
        {.id = entry.key, .text = fmt::format("- {}: {}", Lines(entry.key), Lines(entry.value))});
    importance.push_back(entry.importance);
  }
  TakeInOrder(part);
  std::ranges::stable_sort(part.taking, std::ranges::greater(),
                           [&](std::size_t index) { return importance[index]; });
  return part;
}

// Summaries of what was inherited first, then the window, oldest first; taken: summaries, then the
// newest.
MemoryMaterial::Part RecallPart(const std::vector<Record>& summaries,
                                const std::vector<Record>& window) {
  MemoryMaterial::Part part;
  for (const Record& summary : summaries) {
    part.items.push_back({.id = fmt::format("#{}", summary.id),
                          .text = "- [inherited_summary] " + Lines(summary.text)});
  }
  for (const Record& event : window) {
    part.items.push_back(RecordItem(fmt::format("[{}] ", Lines(event.kind)), event, event.text));
  }
  TakeInOrder(part);
  std::reverse(part.taking.begin() + static_cast<std::ptrdiff_t>(summaries.size()),
               part.taking.end());
  return part;
}

Result<std::vector<Record>> Best(const View& view, const std::string& query, int k,
                                 std::vector<std::string> tags) {
  std::vector<Record> records;
  if (k <= 0) return records;
  DOSSIER_ASSIGN_OR_RETURN(
      std::vector<Hit> hits,
      view.Search(
          {.text = query, .k = k, .tiers = {SearchTier::kArchival}, .tags = std::move(tags)}));
  for (Hit& hit : hits) records.push_back(std::move(hit.record));
  return records;
}

// Neither resources nor summaries, which have places of their own; those may fill up to `others`
// places of a search.
Result<MemoryMaterial::Part> ArchivalPart(const View& view, const StoreLimits& limits,
                                          const std::string& query, std::int64_t others) {
  MemoryMaterial::Part part;
  const auto k = static_cast<std::int64_t>(limits.retrieval_k);
  DOSSIER_ASSIGN_OR_RETURN(
      const std::vector<Record> records,
      Best(view, query, static_cast<int>(std::min<std::int64_t>(k + others, 10'000)), {}));
  for (const Record& record : records) {
    if (std::ssize(part.items) == k) break;
    if (IsResource(record) || record.tier == Tier::kSummary) continue;
    part.items.push_back(
        RecordItem("", record, CutText(record.text, limits.archival_snippet_budget_chars)));
  }
  TakeInOrder(part);
  return part;
}

// By rank; without a query, by id.
Result<MemoryMaterial::Part> ResourcePart(const View& view, const StoreLimits& limits,
                                          const std::string& query, std::vector<Record> resources) {
  if (query.empty()) {
    std::ranges::sort(resources, {}, &Record::id);
  } else {
    DOSSIER_ASSIGN_OR_RETURN(resources,
                             Best(view, query, limits.retrieval_k, {std::string(kResourceTag)}));
  }
  if (std::cmp_greater(resources.size(), limits.retrieval_k)) {
    resources.resize(static_cast<std::size_t>(std::max(limits.retrieval_k, 0)));
  }
  MemoryMaterial::Part part;
  for (const Record& record : resources) {
    part.items.push_back({.id = fmt::format("#{}", record.id),
                          .text = utf8::Sanitize(Harmless(CutText(record.text, kResourceChars)))});
  }
  TakeInOrder(part);
  return part;
}

std::string StatusLine(const View& view, const StoreLimits& limits, std::size_t window,
                       const ViewCounts& counts) {
  return fmt::format("core {}/{} characters, recall {} of {} events, archival {} records",
                     CoreChars(view.AllCore(), view.branch()), limits.core_max_chars, window,
                     counts.events, counts.archival);
}

}  // namespace

Result<Gathered> GatherMemory(const View& view, const StoreLimits& limits,
                              const RenderRequest& request) {
  Gathered gathered;
  auto& parts = gathered.material.parts;
  const auto part = [&parts](MemorySection section) -> MemoryMaterial::Part& {
    return parts.at(static_cast<std::size_t>(section));
  };
  const std::string query(TrimSpace(request.query));
  DOSSIER_ASSIGN_OR_RETURN(const ViewCounts counts, view.Counts());
  DOSSIER_ASSIGN_OR_RETURN(std::vector<Record> summaries,
                           view.Records({.tiers = {Tier::kSummary}}));
  std::ranges::reverse(summaries);
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<Record> window, view.Window(limits.recall_max_events));
  DOSSIER_ASSIGN_OR_RETURN(
      std::vector<Record> resources,
      view.Records({.tiers = {Tier::kArchival}, .tags = {std::string(kResourceTag)}}));
  const std::int64_t others = std::ssize(resources) + std::ssize(summaries);
  const std::int64_t resource_count = std::ssize(resources);

  if (const auto index = view.Core("RESOURCE_INDEX"); index && !index->value.empty()) {
    part(MemorySection::kIndex).items.push_back({.text = utf8::Sanitize(Harmless(index->value))});
    TakeInOrder(part(MemorySection::kIndex));
  }
  part(MemorySection::kCore) = CorePart(view.AllCore());
  part(MemorySection::kRecall) = RecallPart(summaries, window);
  if (!query.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(part(MemorySection::kArchival),
                             ArchivalPart(view, limits, query, others));
  }
  DOSSIER_ASSIGN_OR_RETURN(part(MemorySection::kResource),
                           ResourcePart(view, limits, query, std::move(resources)));
  if (request.status_line == RenderRequest::StatusLine::kYes) {
    gathered.material.status_line = StatusLine(view, limits, window.size(), counts);
  }
  if (request.help) gathered.material.help = TrimSpace(HelpText(*request.help));

  gathered.accounting = {.budget_chars = request.budget.chars,
                         .budget_tokens = request.budget.tokens,
                         .task_hint = request.hint,
                         .core_count = std::ssize(part(MemorySection::kCore).items),
                         .recall_count = counts.events,
                         .archival_count = counts.archival - resource_count,
                         .archival_query = query,
                         .archival_k = limits.retrieval_k,
                         .seq = view.at()};
  return gathered;
}

}  // namespace dossier::memory
