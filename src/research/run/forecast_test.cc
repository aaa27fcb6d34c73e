#include "research/run/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/result_matchers.h"
#include "testing/run_rig_for_test.h"

namespace dossier::research {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// FLT-71
class ForecastTest : public ::testing::Test {
 protected:
  ForecastTest() {
    order_.config = rig_.config;
    order_.config.stages = {StageCap{40}, {40}, {10}, {5}};
    order_.config.num_workers = 4;
    order_.skip = rig_.skip;
  }

  Forecast Of(const MeasuredRuns& before) const {
    return ForecastRun(
        {.order = &order_, .before = &before, .prompt_tokens = 5000, .models = models_});
  }

  RunRig rig_;
  RunOrder order_;
  std::map<std::string, model::Entry> models_;
};

TEST_F(ForecastTest, NodesAreBetweenOneRoundOfAStageAndItsCap) {
  Forecast forecast = Of({});
  EXPECT_EQ(forecast.nodes.least, 2 + 4 + 10 + 4);  // there are two drafts
  EXPECT_EQ(forecast.nodes.most, 40 + 40 + 10 + 5);
  EXPECT_EQ(forecast.reruns, 4);
  EXPECT_GT(forecast.calls.least, forecast.nodes.least);
  EXPECT_LT(forecast.tokens.least, forecast.tokens.most);
  order_.until = Step::kStage1;
  EXPECT_EQ(Of({}).nodes.most, 40);
  order_.until.reset();
  order_.stages = {3};
  EXPECT_EQ(Of({}).nodes.least, 10);
}

TEST_F(ForecastTest, WhatWasMeasuredCountsMoreThanWhatIsAssumed) {
  MeasuredRuns before{.runs = 2, .nodes = 10, .seconds = 36'000, .bytes = 5e9};
  before.roles["code"] = {.calls = 50, .total = {.input = 100'000, .output = 10'000}};
  const Forecast forecast = Of(before);
  EXPECT_EQ(forecast.calls.most, 95 * 5);
  EXPECT_EQ(forecast.tokens.most, 95 * 11'000);
  EXPECT_EQ(forecast.hours->most, 95);
  EXPECT_EQ(forecast.bytes->most, 95 * 5e8);
  EXPECT_THAT(ForecastText(forecast), HasSubstr("hours    20.0 to 95.0\n"));
  EXPECT_THAT(ForecastText(forecast), HasSubstr("2 earlier runs of this folder, 10 nodes"));
}

TEST_F(ForecastTest, MoneyNeedsThePriceOfEachRoleThatIsAsked) {
  MeasuredRuns before{.runs = 1, .nodes = 95};
  before.roles["code"] = {.calls = 95, .total = {.input = 2'000'000, .output = 100'000}};
  before.roles["vlm"] = {.calls = 5, .total = {.input = 1'000'000, .output = 0}};
  model::Entry priced;
  priced.price_input = 1'000;
  priced.price_output = 10'000;
  models_["code"] = priced;
  EXPECT_FALSE(Of(before).usd);
  EXPECT_THAT(Of(before).unpriced, ElementsAre("vlm"));
  EXPECT_THAT(ForecastText(Of(before)), HasSubstr("no price for the model of vlm; --price"));
  models_["vlm"] = priced;
  ASSERT_TRUE(Of(before).usd);
  EXPECT_DOUBLE_EQ(Of(before).usd->most, 2 + 1 + 1);
  order_.config.max_cost_usd = 2.5;
  EXPECT_THAT(ForecastText(Of(before)), HasSubstr("2.5000 USD: the run ends there"));
}

// The table of calls is close to what a run of the rig asks, and measuring that run gives what it
// used.
TEST_F(ForecastTest, ARunTakesWhatItsForecastSays) {
  ASSERT_TRUE(rig_.Start());
  const MeasuredRuns measured = MeasureRuns(rig_.folder().substr(0, rig_.folder().rfind('/')));
  EXPECT_EQ(measured.runs, 1);
  order_.config = rig_.config;
  const double nodes = static_cast<double>(measured.nodes);
  double calls = 0;
  for (const auto& [role, usage] : measured.roles) calls += static_cast<double>(usage.calls);
  EXPECT_EQ(calls, static_cast<double>(rig_.EventsOf("call.replied", "role").size()));
  EXPECT_GT(measured.bytes, 10'000);
  const Forecast assumed = Of({});
  const double assumed_each = assumed.calls.most / assumed.nodes.most;
  EXPECT_GT(assumed_each, 0.6 * calls / nodes);
  EXPECT_LT(assumed_each, 1.6 * calls / nodes);
}

}  // namespace
}  // namespace dossier::research
