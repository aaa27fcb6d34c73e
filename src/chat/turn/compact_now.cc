#include "chat/turn/compact_now.h"

#include <optional>

#include "chat/context/cache_prices.h"
#include "chat/store/save.h"
#include "chat/turn/summarize.h"
#include "model/client/ledger.h"

namespace dossier::chat {

Result<CompactedNow> CompactNow(const CompactParts& parts, std::string_view id,
                                const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const Loaded loaded, parts.store.Load(id));
  DOSSIER_ASSIGN_OR_RETURN(
      const CompactionPlan plan,
      PlanCompaction(loaded.stored, parts.limits, CachePricesOf(parts.model.entry), {},
                     *parts.model.counter, ByHand::kYes));
  if (plan.trigger == CompactionPlan::Trigger::kNone) return CompactedNow{.line = plan.why};
  if (parts.action == CompactParts::Action::kPlan) {
    return CompactedNow{.line = DryRunLine(plan), .figures = FiguresOf(plan, plan.summary_tokens)};
  }
  std::optional<Summary> summary;
  if (plan.summary) {
    const auto clock = SystemClock();
    model::Ledger ledger({}, clock);
    driver::Caller caller(ledger, clock);
    DOSSIER_ASSIGN_OR_RETURN(summary, Summarize(plan, parts.writer, parts.folders, caller, cancel));
  }
  const Compacted done = FinishCompaction(
      plan, summary ? std::optional<std::string_view>(summary->text) : std::nullopt, id,
      parts.writer.stored, parts.store.Now(), *parts.model.counter);
  const std::size_t messages = loaded.document.message_count();
  const auto save = [&](Document* document) -> Status {
    if (document->message_count() < messages) {
      return MakeError(ErrorCode::kFailed, "conversation {} changed meanwhile; try again", id);
    }
    return ApplyCompaction(done.records, document);
  };
  DOSSIER_RETURN_IF_ERROR(parts.store.Update(id, save, cancel));
  return CompactedNow{.line = done.line,
                      .figures = done.figures,
                      .usage = summary ? summary->usage : model::Usage()};
}

}  // namespace dossier::chat
