#include "agents/task/run_budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/text.h"

namespace dossier::agents {
namespace {

model::LedgerLimits LimitsOf(const RunOptions& options) {
  model::LedgerLimits limits;
  limits.tokens = options.max_tokens;
  if (options.max_cost) limits.nano_usd = model::NanoUsdLimit(*options.max_cost);
  return limits;
}

std::optional<Millis> TimeOf(const RunOptions& options, const SpentBefore& before) {
  if (!options.max_seconds) return std::nullopt;
  return LimitOfSeconds(std::max(*options.max_seconds - before.seconds, 0.0));
}

}  // namespace

RunBudget::RunBudget(const RunOptions& options, const CancelToken& parent,
                     std::shared_ptr<const Clock> clock, const SpentBefore& before)
    : seconds_(options.max_seconds),
      limits_(LimitsOf(options)),
      ledger_(limits_, std::move(clock)),
      deadline_(parent, TimeOf(options, before), "the run's time is up") {
  ledger_.CountEarlier(before.usage, 0, 0);
  Spent();
}

void RunBudget::Spent() {
  if (!ledger_.exhausted().empty()) deadline_.Cancel("the run's budget is used up");
}

void RunBudget::CannotMeasure(Measure what, const std::string& why) {
  if (what == Measure::kCost ? !limits_.nano_usd : !limits_.tokens) return;
  {
    const std::lock_guard lock(mutex_);
    if (unmeasured_.empty()) {
      unmeasured_ = fmt::format("the run's limit of {} cannot be kept: {}",
                                what == Measure::kCost ? "cost" : "tokens", why);
    }
  }
  deadline_.Cancel("the run's budget cannot be measured");
}

std::optional<std::string> RunBudget::used_up() const {
  if (deadline_.passed()) return fmt::format("the {} s of the run are over", *seconds_);
  {
    const std::lock_guard lock(mutex_);
    if (!unmeasured_.empty()) return unmeasured_;
  }
  const std::vector<std::string> used = ledger_.hit();
  if (used.empty()) return std::nullopt;
  return fmt::format("the run's limit of {} is reached", Join(used, " and "));
}

}  // namespace dossier::agents
