#include "ask/spending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ask/spend_permit.h"
#include "base/files/file.h"

namespace dossier::ask {
namespace {

CallEstimate Calls(std::int64_t calls, std::optional<std::int64_t> nano_usd = 0) {
  return {.calls = calls, .nano_usd = nano_usd};
}

// REC-78: asked once when the limit is passed, then each time that the total has doubled.
TEST(SpendGuardTest, APersonIsAskedAboveTheLimitAndAtEachDoubling) {
  model::Ledger ledger({}, SystemClock());
  std::vector<std::int64_t> asked;
  SpendGuard guard({.calls = 10,
                    .ask =
                        [&](const CallEstimate& whole) {
                          asked.push_back(whole.calls);
                          return true;
                        }},
                   ledger);
  for (const std::int64_t calls : {1, 10, 11, 15, 22, 23, 40, 47}) {
    EXPECT_TRUE(guard.Allow(Calls(calls))) << calls;
  }
  EXPECT_THAT(asked, ::testing::ElementsAre(11, 23, 47));
}

// What waits in the gate is in no ledger yet.
TEST(SpendGuardTest, WhatIsAllowedCountsUntilItHasLeft) {  // REC-78
  model::Ledger ledger({}, SystemClock());
  SpendGuard guard({.calls = 100, .usd = 1.0, .ask = [](const CallEstimate&) { return false; }},
                   ledger);
  auto first = guard.Allow(Calls(80, 800'000'000));
  ASSERT_TRUE(first);
  for (int i = 0; i < 70; ++i) {  // the ledger would count them
    (*first)->Left();
    (*first)->Ended();
  }
  auto second = guard.Allow(Calls(90, 10'000'000));
  ASSERT_TRUE(second) << second.error().message;
  first->reset();  // ten will never leave
  const auto third = guard.Allow(Calls(10, 900'000'000));
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_FALSE(guard.Allow(Calls(1, 1))) << "a hundred wait";
}

TEST(SpendGuardTest, ANoHoldsForTheRestOfTheRun) {  // REC-78
  model::Ledger ledger({}, SystemClock());
  int asked = 0;
  SpendGuard guard({.usd = 0.5, .ask = [&](const CallEstimate&) { return ++asked > 1; }}, ledger);
  EXPECT_TRUE(guard.Allow(Calls(1, 500'000'000)));
  EXPECT_EQ(guard.Allow(Calls(1, 500'000'001)).error().code, ErrorCode::kRefused);
  EXPECT_EQ(guard.Allow(Calls(1, 1)).error().code, ErrorCode::kRefused);
  EXPECT_EQ(asked, 1);
  SpendGuard alone({.calls = 0}, ledger);
  EXPECT_THAT(alone.Allow(Calls(1)).error().message, ::testing::HasSubstr("no terminal"));
  SpendGuard unknown({.usd = 0.5}, ledger);
  EXPECT_FALSE(unknown.Allow(Calls(1, std::nullopt))) << "an unknown price may be any";
  EXPECT_TRUE(SpendGuard({}, ledger).Allow(Calls(1'000'000)));
}

TEST(WindowTest, WhatRunsTookInTheWindowIsWhatTheNextOnesLack) {  // REC-78
  const auto folder = TempFolder::Make();
  ASSERT_TRUE(folder);
  const auto journal = store::Journal::Open(folder->path());
  ASSERT_TRUE(journal);
  const auto before = SystemClock()->WallNow() - std::chrono::hours(1);
  for (const int tokens : {100, 200}) {  // the second run is killed before it ends
    const auto run = (*journal)->StartRun({{"question", "?"}});
    ASSERT_TRUE(run);
    const JsonObject reply{{"input", tokens}, {"output", 10}, {"nano_usd", 5}};
    const JsonObject kept{{"input", 7}, {"output", 7}, {"from_cache", "x"}};
    ASSERT_TRUE((*journal)->Append(*run, 0, "request.sent", {{"tokens", tokens}}));
    ASSERT_TRUE((*journal)->Append(*run, 0, "reply.received", reply));
    ASSERT_TRUE((*journal)->Append(*run, 0, "reply.received", kept));
    ASSERT_TRUE((*journal)->Append(
        *run, 0, "reply.received",
        {{"usage", JsonObject{{"input", 1}, {"output", 1}, {"cost_nano_usd", 2}}}}));
    if (tokens == 200) continue;
    ASSERT_TRUE((*journal)->Append(
        *run, 0, "run.finished", {{"calls", 1}, {"input", 130}, {"output", 25}, {"nano_usd", 9}}));
  }
  const auto fork = (*journal)->StartRun({{"question", "?"}});
  ASSERT_TRUE(fork);
  ASSERT_TRUE((*journal)->Append(*fork, 0, "request.sent", {{"tokens", 100}}));
  ASSERT_TRUE((*journal)->Append(*fork, 0, "reply.received", {{"input", 100}, {"output", 10}}));
  ASSERT_TRUE((*journal)->Append(*fork, 0, "run.forked", {{"from", "another"}}));
  const auto copy = (*journal)->StartRun({{"question", "?"}, {"imported", true}});
  ASSERT_TRUE(copy);
  ASSERT_TRUE((*journal)->Append(*copy, 0, "request.sent", {{"tokens", 100}}));
  ASSERT_TRUE((*journal)->Append(*copy, 0, "run.imported", {{"form", "events"}}));
  const auto spent = SpentSince(**journal, before);
  ASSERT_TRUE(spent);
  EXPECT_EQ(spent->calls, 2);
  EXPECT_EQ(spent->tokens, 155 + 212) << "the sum of a run has what was interrupted, too";
  EXPECT_EQ(spent->nano_usd, 9 + 7);
  EXPECT_EQ(SpentSince(**journal, SystemClock()->WallNow() + std::chrono::hours(1))->calls, 0);
  const WindowBudget budget{.window = Millis(60'000), .calls = 3, .tokens = 324};
  EXPECT_THAT(RestOf(budget, *spent).error().message, ::testing::HasSubstr("limits.tokens"));
  const auto rest = RestOf({.window = Millis(60'000), .calls = 3, .usd = 1.0}, *spent);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->calls, 1);
  EXPECT_FALSE(rest->tokens);
  EXPECT_NEAR(*rest->usd, 1.0, 1e-6);
}

}  // namespace
}  // namespace dossier::ask
