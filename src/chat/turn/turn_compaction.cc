// Before every call: does the history have to become shorter?

#include "chat/context/compact.h"
#include "chat/turn/refresh_now.h"
#include "chat/turn/turn_driver.h"

namespace dossier::chat {

Status TurnDriver::Compact(const std::optional<Error>& too_long) {
  const bool asked_for = request_.compacting == TurnRequest::Compacting::kNow;
  if (request_.compaction.mode == CompactionLimits::Mode::kOff && !asked_for) return {};
  const assembly::Capability& capability = model_.entry.capability;
  const RequestSize size{// What did not fit has no size; it is over the window.
                         .whole = too_long ? capability.window + 1 : plan_->request.tokens,
                         .reserved_output = input_.reserve_output.value_or(
                             std::min(capability.max_output, capability.window / 2)),
                         .window = capability.window};
  DOSSIER_ASSIGN_OR_RETURN(
      const CompactionPlan plan,
      PlanCompaction(*stored_, request_.compaction, CachePricesOf(model_.entry), size,
                     *model_.counter, asked_for ? ByHand::kYes : ByHand::kNo));
  if (plan.trigger == CompactionPlan::Trigger::kNone) return {};
  if (request_.action == TurnRequest::Action::kPlan) {
    Warn("this turn would compact the history first; the request shown is without that");
    return {};
  }
  std::optional<std::string> summary;
  if (plan.summary) summary = Summarize(plan);
  if (cancel_.cancelled()) return MakeError(ErrorCode::kCancelled, "interrupted");
  const Compacted done = FinishCompaction(plan, summary, request_.id, model_.stored,
                                          FormatMicros(parts_.clock->WallNow()), *model_.counter);
  for (const std::string& warning : done.warnings) Warn(warning);
  if (done.records.empty()) return {};
  input_.compaction = done.records;
  ReportCompaction(done);
  return {};
}

// nullopt if the call failed: what then is done, FinishCompaction says.
std::optional<std::string> TurnDriver::Summarize(const CompactionPlan& plan) {
  const auto ask = [&]() -> Result<std::string> {
    driver::BoundModel other;
    const driver::BoundModel* model = &model_;
    if (!request_.compaction_model.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(other, parts_.open_model(request_.compaction_model));
      model = &other;
    }
    auto written = driver::AskByLayout(SummaryCall(plan), {parts_.folders, parts_.makers}, *model,
                                       caller_, cancel_);
    NoteUsage();
    if (!written) return tl::unexpected(written.error());
    return std::move(written->text);
  };
  auto summary = ask();
  if (!summary) {
    Warn("the summary of old turns failed: " + summary.error().message);
    return std::nullopt;
  }
  return std::move(*summary);
}

void TurnDriver::ReportCompaction(const Compacted& done) {
  JsonObject report = ToJson(done.figures);
  report["line"] = done.line;
  report["method"] = done.records.back().method;
  outcome_.compaction = report;
  Log("compaction.done", std::move(report));
  events_.OnCompaction(done.line);
}

}  // namespace dossier::chat
