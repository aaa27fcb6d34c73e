#include "model/client/client.h"

#include <gtest/gtest.h>

#include "model/catalog/catalog.h"
#include "testing/fakes_for_test.h"

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

namespace {

TEST(RequestSizeTest, APromptThatNobodyCountedIsCountedHere) {
  const RequestSize by_bytes(nullptr), by_characters(tokens::MakeCharCounter());
  Request request = UserRequest("twelve chars");
  EXPECT_EQ(by_bytes.Prompt(request), 3);
  EXPECT_EQ(by_characters.Prompt(request), 12);
  request.estimated_tokens = 40;
  EXPECT_EQ(by_characters.Prompt(request), 40);
  request.schema = Json(JsonObject{{"type", "object"}});
  EXPECT_GT(by_characters.Prompt(request), 40) << "it is sent, too";
}

TEST(RequestSizeTest, WhatAServerCountsHigherHoldsForLaterRequests) {  // FLT-5
  RequestSize size(nullptr);
  EXPECT_EQ(size.MostInput(100), 100);
  size.Learn({.input = 20, .cap = 50}, {.input = 35, .output = 50});
  EXPECT_EQ(size.MostInput(100), 115) << "framing does not grow with the prompt";
  size.Learn({.input = 1000, .cap = 50}, {.input = 1315, .output = 50});
  EXPECT_GE(size.MostInput(1000), 1315);
  EXPECT_LE(size.MostInput(1000), 1320);
  EXPECT_EQ(size.MostOutput(50), 50);
  // One that thinks beyond the cap.
  size.Learn({.input = 10, .cap = 100}, {.input = 10, .output = 150});
  EXPECT_EQ(size.MostOutput(100), 150);
  EXPECT_EQ(size.CapFor(150), 100);
}

TEST(RequestSizeTest, AServerThatIsMistakenDoesNotStopWhatFollows) {
  RequestSize size(nullptr);
  size.Learn({.input = 700, .cap = 10}, {.input = 1'000'000, .output = 1'000'000});
  EXPECT_LE(size.MostInput(700), 2832);
  EXPECT_LE(size.MostOutput(10), 40);
}

TEST(RequestSizeTest, WhatReallyCameIsBelieved) {  // FLT-5
  RequestSize size(nullptr);
  size.LearnArrived({.input = 10, .cap = 100}, 150);
  EXPECT_EQ(size.MostOutput(100), 150);
  size.LearnArrived({.input = 10, .cap = 100}, 5000);
  EXPECT_EQ(size.MostOutput(10), 5000) << "such a server looks at no cap";
  EXPECT_EQ(size.MostOutput(0), 0);
}

TEST(WorstPriceTest, NothingIsReadFromTheCacheAndAllIsWrittenToIt) {  // FLT-5
  Entry entry{.price_input = 100, .price_cached = 10};
  Request request = UserRequest("x");
  EXPECT_FALSE(WorstPriceOf(entry, request)) << "one price is unknown";
  entry.price_output = 500;
  entry.capability.cache = {.mode = assembly::CacheRules::Mode::kExplicit, .write = {1.25}};
  ASSERT_TRUE(WorstPriceOf(entry, request));
  EXPECT_EQ(WorstPriceOf(entry, request)->input, 100) << "no breakpoints, nothing is written";
  EXPECT_EQ(WorstPriceOf(entry, request)->output, 500);
  request.messages.turns[0].blocks[0].cache = "5m";
  EXPECT_EQ(WorstPriceOf(entry, request)->input, 125);
}

}  // namespace
}  // namespace dossier::model
