#include "memory/render/injection.h"

#include <algorithm>
#include <iterator>

#include "base/text/utf8.h"

namespace dossier::memory {
namespace {

MemoryMaterial::Part& PartOf(MemoryMaterial& material, MemorySection section) {
  return material.parts[static_cast<std::size_t>(section)];
}

// Events that a window has to hold so that `limits.recall_max_events` of them are not elsewhere.
Result<int> WindowSize(const View& view, const StoreLimits& limits,
                       const std::set<std::int64_t>& elsewhere) {
  if (elsewhere.empty()) return limits.recall_max_events;
  const int most = limits.recall_max_events + static_cast<int>(elsewhere.size());
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<Record> window, view.Window(most));
  int size = 0;
  int others = 0;
  for (auto event = window.rbegin(); event != window.rend(); ++event, ++size) {
    if (elsewhere.contains(event->id)) continue;
    if (++others > limits.recall_max_events) break;
  }
  return size;
}

// Takes the items out whose id `gone` names.
void Remove(const std::set<std::string>& gone, MemoryMaterial::Part* part) {
  constexpr std::size_t kGone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> place(part->items.size(), kGone);
  std::vector<MemoryItem> kept;
  for (std::size_t i = 0; i < part->items.size(); ++i) {
    if (gone.contains(part->items[i].id)) continue;
    place[i] = kept.size();
    kept.push_back(std::move(part->items[i]));
  }
  part->items = std::move(kept);
  std::erase_if(part->taking, [&](std::size_t at) { return place[at] == kGone; });
  for (std::size_t& at : part->taking) at = place[at];
}

// What is left of `budget` behind `text`.
RenderBudget Rest(RenderBudget budget, std::string_view text) {
  if (budget.chars) {
    *budget.chars = std::max<std::int64_t>(
        0, *budget.chars - static_cast<std::int64_t>(utf8::CodePoints(text)));
  }
  if (budget.tokens && !text.empty()) {
    *budget.tokens = std::max<std::int64_t>(0, *budget.tokens - budget.count_tokens(text));
  }
  return budget;
}

// The parts of core alone, taken out of `material`.
MemoryMaterial TakeCore(MemoryMaterial* material) {
  MemoryMaterial core;
  for (const MemorySection section : {MemorySection::kIndex, MemorySection::kCore}) {
    std::swap(PartOf(core, section), PartOf(*material, section));
  }
  return core;
}

void Account(const LaidOut& laid, RenderAccounting* accounting) {
  const auto shown = [&](MemorySection section) {
    return laid.shown[static_cast<std::size_t>(section)];
  };
  accounting->core_items += shown(MemorySection::kCore);
  accounting->recall_items += shown(MemorySection::kRecall);
  accounting->archival_items += shown(MemorySection::kArchival);
  accounting->resource_items += shown(MemorySection::kResource);
  accounting->rendered_chars += static_cast<std::int64_t>(utf8::CodePoints(laid.text));
  std::ranges::copy(laid.dropped, std::back_inserter(accounting->dropped));
}

}  // namespace

Result<Injection> Inject(const View& view, const StoreLimits& limits,
                         const InjectionRequest& request) {
  const RenderRequest& render = request.render;
  if (render.budget.tokens && !render.budget.count_tokens) {
    return MakeError(ErrorCode::kInvalidArgument, "a budget in tokens needs a tokenizer");
  }
  const auto now = [&] { return render.stopwatch ? render.stopwatch->Now() : Clock::Steady(); };
  const Clock::Steady start = now();
  StoreLimits wide = limits;
  DOSSIER_ASSIGN_OR_RETURN(wide.recall_max_events, WindowSize(view, limits, request.elsewhere));
  DOSSIER_ASSIGN_OR_RETURN(Gathered gathered, GatherMemory(view, wide, render));
  std::set<std::string> gone;
  for (const std::int64_t id : request.elsewhere) gone.insert(fmt::format("#{}", id));
  Remove(gone, &PartOf(gathered.material, MemorySection::kRecall));
  Injection out{.accounting = std::move(gathered.accounting)};
  const LaidOut core = LayOut(TakeCore(&gathered.material), render.budget);
  const LaidOut rest = LayOut(gathered.material, Rest(render.budget, core.text));
  Account(core, &out.accounting);
  Account(rest, &out.accounting);
  out.core = core.text;
  out.rest = rest.text;
  out.accounting.timing = std::chrono::duration_cast<Millis>(now() - start);
  return out;
}

}  // namespace dossier::memory
