#include "research/run/run_budget.h"

#include <gtest/gtest.h>

#include "base/deadline.h"

namespace dossier::research {
namespace {

store::Event At(std::string_view time, std::string_view type, JsonObject data = {}) {
  return {.time = fmt::format("2026-01-28T{}Z", time),
          .type = std::string(type),
          .data = std::move(data)};
}
JsonObject Call(std::int64_t input, std::int64_t output, Json cost) {
  return {{"usage", JsonObject{{"input_tokens", input},
                               {"output_tokens", output},
                               {"cost_nano_usd", std::move(cost)}}}};
}

TEST(RunBudgetTest, TimeCountsOnlyWhileAProcessWorked) {  // RSP-46
  const store::Event events[] = {
      At("10:00:00", "run.started"), At("10:00:30", "call.replied", Call(100, 20, 5)),
      At("12:00:00", "run.resumed"), At("12:00:10", "call.replied", Call(200, 30, 7))};
  const RunSpend spend = SpendOf(events);
  EXPECT_EQ(spend.seconds, 40);
  EXPECT_EQ(spend.usage.tokens(), 350);
  EXPECT_EQ(spend.usage.total.cost_nano_usd, 12);
  EXPECT_EQ(spend.usage.calls, 2);
}

TEST(RunBudgetTest, TokensAreToldByRole) {  // 5.1
  JsonObject code = Call(100, 20, 5), vlm = Call(10, 2, nullptr);
  code["role"] = "code";
  vlm["role"] = "vlm";
  const store::Event events[] = {At("10:00:00", "call.replied", code),
                                 At("10:00:00", "call.replied", vlm)};
  const Json tracker(TokenTracker(events));
  EXPECT_EQ(ToJson(*Find(*Find(tracker, "roles"), "code")),
            R"({"calls":1,"input_tokens":100,"output_tokens":20,"cached_tokens":0,)"
            R"("cache_write_tokens":0,"cost_nano_usd":5,"tokens":120})");
  EXPECT_EQ(FindInt(*Find(tracker, "total"), "tokens"), 132);
  EXPECT_TRUE(Find(*Find(tracker, "total"), "cost_nano_usd")->is_null());
}

TEST(RunBudgetTest, OneUnknownPriceMakesTheSumUnknown) {
  const store::Event events[] = {At("10:00:00", "call.replied", Call(1, 1, nullptr)),
                                 At("10:00:00", "call.replied", Call(1, 1, 7))};
  EXPECT_FALSE(SpendOf(events).usage.total.cost_nano_usd);
}

TEST(RunBudgetTest, LimitsAreOfTheWholeRun) {  // RSP-46
  RunConfig config;
  config.max_tokens = 1000;
  config.max_cost_usd = 2e-6;
  const RunSpend spend{.usage = {.total = {.input = 400, .cost_nano_usd = 500}}};
  const model::LedgerLimits left = LimitsLeft(config, spend, *SystemClock());
  EXPECT_EQ(left.tokens, 600);
  EXPECT_EQ(left.nano_usd, 1500);
  EXPECT_FALSE(left.deadline);
  EXPECT_EQ(ReachedLimit(config, spend), "");
  EXPECT_EQ(ReachedLimit(config, {.usage = {.total = {.input = 1000}}}), "tokens: 1000 of 1000");
  EXPECT_EQ(ReachedLimit(config, {.usage = {.total = {.cost_nano_usd = 3000}}}),
            "cost: 3e-06 of 2e-06 USD");
}

TEST(RunBudgetTest, TheDeadlineCancelsWhatRuns) {  // RSP-46
  RunConfig config;
  config.max_seconds = 0;
  const model::Ledger ledger(LimitsLeft(config, {}, *SystemClock()), SystemClock());
  const Deadline deadline({}, ledger.time_left(model::Stage::kNormal), "the run's time is over");
  while (!deadline.token().cancelled()) std::this_thread::yield();
  EXPECT_TRUE(deadline.passed());
}

}  // namespace
}  // namespace dossier::research
