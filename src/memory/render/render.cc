#include "memory/render/render.h"

#include "base/text/utf8.h"

namespace dossier::memory {

JsonObject AccountingJson(const RenderAccounting& accounting) {
  JsonArray dropped;
  for (const DroppedItem& item : accounting.dropped) {
    dropped.push_back(
        JsonObject{{"section", item.section}, {"id", item.id}, {"reason", item.reason}});
  }
  JsonObject json{{"budget_chars", nullptr},
                  {"rendered_chars", accounting.rendered_chars},
                  {"task_hint", accounting.task_hint},
                  {"core_count", accounting.core_count},
                  {"recall_count", accounting.recall_count},
                  {"archival_count", accounting.archival_count},
                  {"resource_items", accounting.resource_items},
                  {"core_items", accounting.core_items},
                  {"recall_items", accounting.recall_items},
                  {"archival_items", accounting.archival_items},
                  {"archival_query", accounting.archival_query},
                  {"archival_k", accounting.archival_k},
                  {"dropped", std::move(dropped)},
                  {"seq", accounting.seq}};
  if (accounting.budget_chars) json["budget_chars"] = *accounting.budget_chars;
  if (accounting.budget_tokens) json["budget_tokens"] = *accounting.budget_tokens;
  const double seconds = static_cast<double>(accounting.timing.count()) / 1000.0;
  json["timing"] = JsonObject{{"duration_seconds", seconds}};
  return json;
}

Result<Rendered> Render(const View& view, const StoreLimits& limits, const RenderRequest& request) {
  if (request.budget.tokens && !request.budget.count_tokens) {
    return MakeError(ErrorCode::kInvalidArgument, "a budget in tokens needs a tokenizer");
  }
  const auto now = [&] { return request.stopwatch ? request.stopwatch->Now() : Clock::Steady(); };
  const Clock::Steady start = now();
  DOSSIER_ASSIGN_OR_RETURN(Gathered gathered, GatherMemory(view, limits, request));
  LaidOut laid = LayOut(gathered.material, request.budget);
  Rendered rendered{.text = std::move(laid.text), .accounting = std::move(gathered.accounting)};
  RenderAccounting& accounting = rendered.accounting;
  const auto shown = [&](MemorySection section) {
    return laid.shown[static_cast<std::size_t>(section)];
  };
  accounting.core_items = shown(MemorySection::kCore);
  accounting.recall_items = shown(MemorySection::kRecall);
  accounting.archival_items = shown(MemorySection::kArchival);
  accounting.resource_items = shown(MemorySection::kResource);
  accounting.dropped = std::move(laid.dropped);
  accounting.rendered_chars = static_cast<std::int64_t>(utf8::CodePoints(rendered.text));
  accounting.timing = std::chrono::duration_cast<Millis>(now() - start);
  return rendered;
}

}  // namespace dossier::memory
