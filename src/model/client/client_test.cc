#include "model/client/client.h"

#include <gtest/gtest.h>

namespace dossier::model {
namespace {

const Usage kUsage{.input = 1,
                   .output = 20,
                   .cached = 300,
                   .cache_write = 4'000,
                   .cache_write_long = 50'000,
                   .reasoning = 600'000,
                   .cost_nano_usd = 7'000'000};

// A kind of token that is added to `Usage` has to be added to the sum, and to this list.
void ExpectTwice(const Usage& sum) {
  EXPECT_EQ(sum.input, 2);
  EXPECT_EQ(sum.output, 40);
  EXPECT_EQ(sum.cached, 600);
  EXPECT_EQ(sum.cache_write, 8'000);
  EXPECT_EQ(sum.cache_write_long, 100'000);
  EXPECT_EQ(sum.reasoning, 1'200'000);
  EXPECT_EQ(sum.cost_nano_usd, 14'000'000);
}

TEST(UsageSumTest, EveryKindOfTokenIsInTheSum) {
  UsageSum sum;
  sum.Add(kUsage);
  sum.Add(kUsage);
  EXPECT_EQ(sum.calls, 2);
  ExpectTwice(sum.total);
  EXPECT_EQ(sum.tokens(), 42);

  UsageSum whole;
  whole.Add(sum);
  EXPECT_EQ(whole.calls, 2);
  ExpectTwice(whole.total);
}

TEST(UsageSumTest, WhatOneRequestDoesNotTellIsUnknownForAll) {
  UsageSum sum;
  EXPECT_EQ(sum.total.cost_nano_usd, 0) << "no request costs nothing";
  sum.Add(kUsage);
  sum.Add(Usage{.input = 5});
  sum.Add(kUsage);
  EXPECT_EQ(sum.total.cost_nano_usd, std::nullopt);
  EXPECT_EQ(sum.total.reasoning, std::nullopt);
  EXPECT_EQ(sum.total.input, 7);
}

TEST(UsageSumTest, AnEstimateMakesTheSumOne) {
  UsageSum sum;
  sum.Add(Usage{.estimated = true});
  sum.Add(kUsage);
  EXPECT_TRUE(sum.total.estimated);
}

}  // namespace

}  // namespace dossier::model
