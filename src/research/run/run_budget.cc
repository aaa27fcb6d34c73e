#include "research/run/run_budget.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text/parse.h"
#include "research/files/cuts.h"
#include "store/event_data.h"

namespace dossier::research {
namespace {

constexpr double kNano = 1e9;

JsonObject SpendJson(const model::UsageSum& spent) {
  JsonObject json = UsageJson(spent);
  json["tokens"] = spent.tokens();
  return json;
}

}  // namespace

void WorkingTime::See(std::string_view type, std::string_view time) {
  if (type == "run.started" || type == "run.resumed") {
    before_ = Seconds();
    begun_ = time;
  }
  last_ = time;
}

double WorkingTime::Seconds() const {
  const Result<Clock::Wall> begun = ParseTime(begun_), last = ParseTime(last_);
  if (!begun || !last) return before_;
  return before_ + std::chrono::duration<double>(*last - *begun).count();
}

RunSpend SpendOf(std::span<const store::Event> events) {
  RunSpend spend;
  WorkingTime time;
  for (const store::Event& event : events) {
    time.See(event.type, event.time);
    if (event.type == "call.replied") spend.usage.Add(ReplyUsage(Json(event.data)));
  }
  spend.seconds = time.Seconds();
  return spend;
}

Result<RunSpend> SpendOf(const ResearchLog& log) {
  WorkingTime time;
  DOSSIER_RETURN_IF_ERROR(log.ForEach([&](const store::StoredEvent& event) -> Status {
    time.See(event.type, event.time);
    return {};
  }));
  return RunSpend{.usage = log.UsageOutside({}), .seconds = time.Seconds()};
}

JsonObject TokenTracker(std::span<const store::Event> events) {
  model::UsageSum sum;
  std::map<std::string, model::UsageSum> roles;
  for (const store::Event& event : events) {
    if (event.type != "call.replied") continue;
    const Json data(event.data);
    const model::Usage usage = ReplyUsage(data);
    sum.Add(usage);
    roles[TextAt(data, "role")].Add(usage);
  }
  JsonObject by_role;
  for (const auto& [role, spent] : roles) by_role[role] = SpendJson(spent);
  return {{"schema", "dossier.research.tokens/1"},
          {"total", SpendJson(sum)},
          {"roles", std::move(by_role)}};
}

model::LedgerLimits LimitsLeft(const RunConfig& config, const RunSpend& spent, const Clock& clock) {
  model::LedgerLimits limits;
  if (config.max_tokens) {
    limits.tokens = std::max<std::int64_t>(*config.max_tokens - spent.usage.tokens(), 0);
  }
  if (config.max_cost_usd) {
    const std::int64_t most = model::NanoUsdLimit(*config.max_cost_usd);
    limits.nano_usd = std::max<std::int64_t>(most - spent.usage.total.cost_nano_usd.value_or(0), 0);
  }
  if (config.max_seconds) {
    const std::chrono::duration<double> left(
        std::max(static_cast<double>(*config.max_seconds) - spent.seconds, 0.0));
    limits.deadline = clock.Now() + std::chrono::duration_cast<Clock::Steady::duration>(left);
  }
  return limits;
}

std::string ReachedLimit(const RunConfig& config, const RunSpend& spent) {
  const double usd = static_cast<double>(spent.usage.total.cost_nano_usd.value_or(0)) / kNano;
  if (config.max_cost_usd && usd >= *config.max_cost_usd) {
    return fmt::format("cost: {} of {} USD", UsdText(usd), UsdText(*config.max_cost_usd));
  }
  if (config.max_tokens && spent.usage.tokens() >= *config.max_tokens) {
    return fmt::format("tokens: {} of {}", spent.usage.tokens(), *config.max_tokens);
  }
  if (config.max_seconds && spent.seconds >= static_cast<double>(*config.max_seconds)) {
    return fmt::format("seconds: {:.0f} of {}", spent.seconds, *config.max_seconds);
  }
  return "";
}

}  // namespace dossier::research
