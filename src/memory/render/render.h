// Renders memory for a prompt, within a budget.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Rendered rendered, Render(view, limits, {.query = task}));
//   rendered.text            // "Core Memory:\n- compiler: icpx"
//   ToJson(AccountingJson(rendered.accounting))
//
// Two steps: GatherMemory collects from the view what could be shown, then LayOut, which is pure,
// lays it out. The same view and request give the same bytes. Thread-safety: plain data; pure
// except for the reads of the view.

#ifndef DOSSIER_MEMORY_RENDER_RENDER_H_
#define DOSSIER_MEMORY_RENDER_RENDER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "memory/records/operations.h"
#include "memory/records/types.h"
#include "memory/search/view.h"

namespace dossier::memory {

using CountTokensFn = std::function<std::int64_t(std::string_view)>;

// If both budgets are set, both apply; an unset one is no limit.
struct RenderBudget {
  std::optional<std::int64_t> chars;  // code points
  std::optional<std::int64_t> tokens;
  CountTokensFn count_tokens;  // required with `tokens`
};

struct RenderRequest {
  std::string hint;   // "draft": a label used in the accounting
  std::string query;  // "": no archival section, resources by id
  RenderBudget budget;
  enum class StatusLine : std::uint8_t { kNo, kYes } status_line = StatusLine::kNo;
  std::optional<HelpForm> help;      // of the operations; unset: no help
  const Clock* stopwatch = nullptr;  // for `timing`; null: it is 0
};

enum class MemorySection : std::uint8_t { kIndex, kCore, kRecall, kArchival, kResource };
inline constexpr std::size_t kMemorySections = 5;
std::string_view SectionTitle(MemorySection section);  // "Core Memory"

// One line or text of a section.
struct MemoryItem {
  std::string id;    // a core key, "#12", or "" for the index
  std::string text;  // as shown
  std::string tail;  // after the text, kept even if it is cut: " {#12}"
  std::string more;  // between text and tail, omitted if the text is cut: " (tags: a, b)"
};

// The candidates of each section: the items as printed and the order of selection.
struct MemoryMaterial {
  struct Part {
    std::vector<MemoryItem> items;
    std::vector<std::size_t> taking;  // indices into `items`
  };
  std::array<Part, kMemorySections> parts;
  std::string status_line;
  std::string help;
};

// An item that is not shown, or not completely.
struct DroppedItem {
  std::string section;  // "Core Memory"; "Status", "Help"
  std::string id;
  std::string reason;  // "budget", "cut"
};

struct RenderAccounting {
  std::optional<std::int64_t> budget_chars;
  std::optional<std::int64_t> budget_tokens;
  std::int64_t rendered_chars = 0;
  std::string task_hint;
  // Counts of what is visible in the view, then of what is shown.
  std::int64_t core_count = 0, recall_count = 0, archival_count = 0;
  std::int64_t resource_items = 0, core_items = 0, recall_items = 0, archival_items = 0;
  std::string archival_query;
  int archival_k = 0;
  std::vector<DroppedItem> dropped;
  Seq seq = 0;
  Millis timing{0};
};

JsonObject AccountingJson(const RenderAccounting& accounting);

struct Rendered {
  std::string text;  // no newline at its end; "" if there is nothing
  RenderAccounting accounting;
};

struct LaidOut {
  std::string text;
  std::array<std::int64_t, kMemorySections> shown{};  // items, including those that were cut
  std::vector<DroppedItem> dropped;
};

// Lays out the material within `budget`, which is never exceeded. It never splits a code point.
LaidOut LayOut(const MemoryMaterial& material, const RenderBudget& budget);

struct GatheredMemory {
  MemoryMaterial material;
  RenderAccounting accounting;  // what is known before LayOut
};
Result<GatheredMemory> GatherMemory(const View& view, const StoreLimits& limits,
                                    const RenderRequest& request);

// Errors: those of the view; kInvalidArgument for a token budget without a token counter.
Result<Rendered> Render(const View& view, const StoreLimits& limits, const RenderRequest& request);

// Memory for one prompt of a driver, as two texts: core, whose bytes change only when core does,
// and the rest, which depends on this query. A provider's cache can thus keep the prefix.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Injection memory,
//       Inject(view, limits, {.render = {.query = user_turn, .budget = {.chars = 24'000}}}));
//   prompt.stable = memory.core, prompt.later = memory.rest;
//   journal(AccountingJson(memory.accounting));
//
// Thread-safety: plain data; pure except for the reads of the view.

struct InjectionRequest {
  RenderRequest render;  // its budget covers both texts; core is served first
  // Records that the prompt already contains, as turns of its history. They are not repeated, and
  // the window holds as many other records.
  std::set<std::int64_t> elsewhere;
};

struct Injection {
  std::string core;  // Resource Index and Core Memory
  std::string rest;  // Recall, Archival and Resource Memory; status line and help on request
  RenderAccounting accounting;
};

// Errors: as Render.
Result<Injection> Inject(const View& view, const StoreLimits& limits,
                         const InjectionRequest& request);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RENDER_RENDER_H_
