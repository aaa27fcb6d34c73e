#include "agents/task/run_budget.h"

#include <fmt/format.h>

#include "base/text/text.h"

namespace dossier::agents {
namespace {

constexpr double kNanoPerUsd = 1e9;

model::LedgerLimits LimitsOf(const RunOptions& options) {
  model::LedgerLimits limits;
  limits.tokens = options.max_tokens;
  if (options.max_cost)
    limits.nano_usd = static_cast<std::int64_t>(*options.max_cost * kNanoPerUsd);
  return limits;
}

std::optional<Millis> TimeOf(const RunOptions& options) {
  if (!options.max_seconds) return std::nullopt;
  return Millis(static_cast<std::int64_t>(*options.max_seconds * 1000));
}

}  // namespace

RunBudget::RunBudget(const RunOptions& options, const CancelToken& parent,
                     std::shared_ptr<const Clock> clock)
    : seconds_(options.max_seconds),
      ledger_(LimitsOf(options), std::move(clock)),
      deadline_(parent, TimeOf(options), "the run's time is up") {}

void RunBudget::Spent() {
  if (!ledger_.exhausted().empty()) deadline_.Cancel("the run's budget is used up");
}

std::optional<std::string> RunBudget::used_up() const {
  if (deadline_.passed()) return fmt::format("the {} s of the run are over", *seconds_);
  const std::vector<std::string> used = ledger_.hit();
  if (used.empty()) return std::nullopt;
  return fmt::format("the run's limit of {} is reached", Join(used, " and "));
}

}  // namespace dossier::agents
