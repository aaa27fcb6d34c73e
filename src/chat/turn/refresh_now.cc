#include "chat/turn/refresh_now.h"

#include <algorithm>
#include <optional>

#include "assembly/assemble.h"
#include "base/random.h"
#include "base/text/text.h"
#include "chat/context/compact.h"
#include "chat/context/frozen.h"
#include "chat/store/save.h"
#include "model/client/ledger.h"

namespace dossier::chat {

std::vector<std::size_t> StaticCommands(std::span<const DeclaredCommand> commands,
                                        std::string_view only) {
  std::vector<std::size_t> run;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const bool dynamic = commands[i].freshness == CommandRecord::Freshness::kDynamic;
    if (!dynamic && (only.empty() || commands[i].name == only)) run.push_back(i);
  }
  return run;
}

bool Differs(const BlockChange& change) {
  return change.what != "same" && change.what != kNotRefreshed;
}

bool ChangesContext(const Stored& stored, const Refreshed& refreshed) {
  return StateOf(&stored) != State::kFrozen ||
         std::any_of(refreshed.changes.begin(), refreshed.changes.end(), Differs);
}

Refreshed RefreshParts::Compare(const Stored& stored, const Gathered& gathered) const {
  return Refresh(stored, gathered.commands, gathered.blocks, store.Now(), counter, others);
}

Status RefreshParts::Save(std::string_view id, const Gathered& gathered,
                          const CancelToken& cancel) const {
  const auto change = [&](Document* document) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(const Stored stored, ReadStored(*document));
    const Refreshed refreshed = Compare(stored, gathered);
    DOSSIER_RETURN_IF_ERROR(KeepReplacedContext(content_folder, refreshed.replaced));
    DOSSIER_RETURN_IF_ERROR(ApplyContext(refreshed.frozen, store.Now(), document));
    if (!stored.total_tokens) return {};
    const StoredMessage* system = stored.System();
    const std::int64_t before = counter.CountText(system ? system->Text() : "").tokens;
    const std::int64_t now = counter.CountText(refreshed.frozen.system).tokens;
    return document->metadata().Set({"total_tokens"}, *stored.total_tokens - before + now);
  };
  return store.Update(id, change, cancel);
}

Result<CompactedNow> CompactNow(const CompactParts& parts, std::string_view id,
                                const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const Loaded loaded, parts.store.Load(id));
  DOSSIER_ASSIGN_OR_RETURN(
      const CompactionDecision plan,
      PlanCompaction(loaded.stored, parts.limits, CachePricesOf(parts.model.entry), {},
                     *parts.model.counter, ByHand::kYes));
  if (plan.trigger == CompactionDecision::Trigger::kNone) return CompactedNow{.line = plan.why};
  if (parts.action == CompactParts::Action::kPlan) {
    return CompactedNow{.line = DryRunLine(plan), .figures = FiguresOf(plan, plan.summary_tokens)};
  }
  std::optional<model::Reply> summary;
  if (plan.summary) {
    const auto clock = SystemClock();
    model::Ledger ledger({}, clock);
    driver::Caller caller(ledger, clock);
    DOSSIER_ASSIGN_OR_RETURN(summary, driver::AskByLayout(SummaryCall(plan), parts.layouts,
                                                          parts.writer, caller, cancel));
  }
  const CompactedHistory done = FinishCompaction(
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
