#include "model/ledger.h"

#include <gtest/gtest.h>

#include "model/fakes_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

std::shared_ptr<ManualClock> MakeClock() { return std::make_shared<ManualClock>(); }

TEST(LedgerTest, EveryLimitIsRefusedByName) {  // MOD-20
  struct Case {
    LedgerLimits limits;
    LedgerRequest request;
    const char* message;
    const char* exhausted;
  };
  const Case cases[] = {
      {{.calls = 0}, {}, "calls: 0 of 0 used", "calls"},
      {{.tokens = 100},
       {.tokens = 101},
       "tokens: 0 of 100 used or reserved, this request needs 101",
       nullptr},
      {{.nano_usd = 5}, {.nano_usd = 6}, "cost: $0.000000 of $0.000000", nullptr},
      {{.deadline = MakeClock()->Now()}, {}, "time:", "time"},
  };
  for (const Case& c : cases) {
    Ledger ledger(c.limits, MakeClock());
    EXPECT_THAT(ledger.Reserve(c.request, Stage::kNormal), FailsWith(ErrorCode::kLimit, c.message));
    EXPECT_EQ(ledger.exhausted(),
              c.exhausted ? std::vector<std::string>{c.exhausted} : std::vector<std::string>{});
  }
}

TEST(LedgerTest, TheFinishReserveIsOnlyForTheClosingRequest) {  // REC-56
  auto clock = MakeClock();
  Ledger ledger({.calls = 2,
                 .tokens = 100,
                 .deadline = clock->Now() + Millis(1000),
                 .finish_calls = 1,
                 .finish_tokens = 40,
                 .finish_time = Millis(200)},
                clock);
  EXPECT_EQ(ledger.tokens_left(), 60);
  EXPECT_EQ(ledger.time_left(Stage::kNormal)->count(), 800);
  EXPECT_THAT(ledger.Reserve({.tokens = 61}, Stage::kNormal),
              FailsWith(ErrorCode::kLimit, "40 kept for the closing request"));
  auto first = ledger.Reserve({.tokens = 60}, Stage::kNormal);
  ASSERT_TRUE(first);
  EXPECT_EQ(ledger.calls_left(), 0);
  EXPECT_THAT(ledger.Reserve({}, Stage::kNormal), FailsWith(ErrorCode::kLimit, "calls: 1 of 2"));
  clock->Advance(Millis(900));
  EXPECT_THAT(ledger.Reserve({}, Stage::kNormal), FailsWith(ErrorCode::kLimit, "time:"));
  EXPECT_THAT(ledger.Reserve({.tokens = 40}, Stage::kFinish), Succeeds());
}

TEST(LedgerTest, WhatIsNotSettledIsGivenBack) {
  Ledger ledger({.calls = 10, .tokens = 100}, MakeClock());
  {
    auto dropped = ledger.Reserve({.tokens = 100}, Stage::kNormal);
  }
  EXPECT_EQ(ledger.tokens_left(), 100);
  EXPECT_EQ(ledger.use().calls, 1) << "the call was made";
  auto failed = ledger.Reserve({.tokens = 100}, Stage::kNormal);
  failed->Fail();
  auto withdrawn = ledger.Reserve({.tokens = 100}, Stage::kNormal);
  withdrawn->Withdraw();
  EXPECT_EQ(ledger.use().calls, 2);
  EXPECT_EQ(ledger.use().failed_calls, 1);
  EXPECT_EQ(ledger.tokens_left(), 100);
}

TEST(LedgerTest, OneUnknownPriceMakesTheSumUnknownNotZero) {  // MOD-24
  Ledger ledger({}, MakeClock());
  ledger.Reserve({}, Stage::kNormal)->Settle({.input = 10, .output = 5, .cost_nano_usd = 70});
  EXPECT_EQ(ledger.use().nano_usd, 70);
  ledger.Reserve({}, Stage::kNormal)->Settle({.input = 1, .cached = 1, .estimated = true});
  EXPECT_FALSE(ledger.use().nano_usd);
  EXPECT_TRUE(ledger.use().estimated);
  EXPECT_EQ(ledger.use().tokens_input, 11);
  EXPECT_EQ(ledger.use().tokens_cached, 1);
  ledger.Reserve({}, Stage::kNormal)->Settle({.cost_nano_usd = 1});
  EXPECT_FALSE(ledger.use().nano_usd);
}

TEST(LedgerTest, ManyThreadsNeverExceedALimit) {  // MOD-A4
  Ledger ledger({.calls = 500, .tokens = 100000}, MakeClock());
  std::atomic<int> granted{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 400; ++round) {
        if (auto held = ledger.Reserve({.tokens = 10}, Stage::kNormal)) {
          ++granted;
          held->Settle({.input = 10, .cost_nano_usd = 1});
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted, 500);
  EXPECT_EQ(ledger.use().tokens_input, 5000);
}

}  // namespace
}  // namespace dossier::model
