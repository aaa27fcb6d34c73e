#include "model/client/ledger.h"

#include <gtest/gtest.h>

#include "testing/fakes_for_test.h"
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
       {.input = 101},
       "tokens: 0 of 100 used or reserved, this request needs 101",
       nullptr},
      {{.nano_usd = 5},
       {.input = 3, .price = TokenPrice{.input = 2}},
       "cost: $0.000000 of $0.000000",
       nullptr},
      {{.nano_usd = 5}, {.input = 1}, "--price", nullptr},
      {{.deadline = MakeClock()->Now()}, {}, "time:", "time"},
  };
  for (const Case& c : cases) {
    Ledger ledger(c.limits, MakeClock());
    EXPECT_THAT(ledger.Reserve(c.request, Stage::kNormal), FailsWith(ErrorCode::kLimit, c.message));
    EXPECT_EQ(ledger.exhausted(),
              c.exhausted ? std::vector<std::string>{c.exhausted} : std::vector<std::string>{});
  }
}

TEST(LedgerTest, TheFinishReserveGrowsWithWhatAServerCounts) {  // FLT-6
  Ledger ledger({.tokens = 1000,
                 .nano_usd = 10'000,
                 .finish = {.tokens = 300,
                            .nano_usd = 2'000,
                            .prompt = 100,
                            .prompt_held = 120,
                            .prompt_price = 3}},
                MakeClock());
  const TokenPrice price{.input = 1};
  auto first = ledger.Reserve({.input = 10, .price = price, .closing_prompt = 120}, Stage::kNormal);
  ASSERT_THAT(first, Succeeds());
  EXPECT_EQ(ledger.tokens_left(), 690);
  auto second =
      ledger.Reserve({.input = 10, .price = price, .closing_prompt = 200}, Stage::kNormal);
  ASSERT_THAT(second, Succeeds());
  EXPECT_EQ(ledger.tokens_left(), 600);
  EXPECT_EQ(ledger.nano_usd_left(), 10'000 - 2'000 - 240 - 20);
  EXPECT_EQ(ledger.tokens_left(Stage::kFinish), 980) << "the closing request has it all";
}

TEST(LedgerTest, TheFinishReserveIsOnlyForTheClosingRequest) {  // REC-56
  auto clock = MakeClock();
  Ledger ledger({.calls = 2,
                 .tokens = 100,
                 .nano_usd = 1000,
                 .deadline = clock->Now() + Millis(1000),
                 .finish = {.calls = 1, .tokens = 40, .nano_usd = 300, .time = Millis(200)}},
                clock);
  EXPECT_EQ(ledger.tokens_left(), 60);
  EXPECT_EQ(ledger.time_left(Stage::kNormal)->count(), 800);
  EXPECT_EQ(ledger.nano_usd_left(), 700);
  const TokenPrice price{.input = 10};
  EXPECT_THAT(ledger.Reserve({.input = 61, .price = price}, Stage::kNormal),
              FailsWith(ErrorCode::kLimit, "40 kept for the closing request"));
  EXPECT_THAT(ledger.Reserve({.input = 50, .price = TokenPrice{.input = 15}}, Stage::kNormal),
              FailsWith(ErrorCode::kLimit, "$0.000000 kept for the closing request"));
  auto first = ledger.Reserve({.input = 60, .price = price}, Stage::kNormal);
  ASSERT_TRUE(first);
  EXPECT_EQ(ledger.calls_left(), 0);
  EXPECT_THAT(ledger.Reserve({.price = price}, Stage::kNormal),
              FailsWith(ErrorCode::kLimit, "calls: 1 of 2"));
  clock->Advance(Millis(900));
  EXPECT_THAT(ledger.Reserve({.price = price}, Stage::kNormal),
              FailsWith(ErrorCode::kLimit, "time:"));
  EXPECT_THAT(ledger.Reserve({.input = 40, .price = price}, Stage::kFinish), Succeeds());
}

TEST(LedgerTest, ALimitOfMoneyThatNoCounterHoldsIsALargeOne) {
  EXPECT_EQ(NanoUsdLimit(0.25), 250'000'000);
  for (const double usd : {1e9, 1e11, 1e300}) {
    EXPECT_EQ(NanoUsdLimit(usd), 1'000'000'000'000'000'000) << usd;
  }
}

TEST(LedgerTest, WhatIsNotSettledIsGivenBack) {
  Ledger ledger({.calls = 10, .tokens = 100}, MakeClock());
  {
    auto dropped = ledger.Reserve({.input = 100}, Stage::kNormal);
  }
  EXPECT_EQ(ledger.tokens_left(), 100);
  EXPECT_EQ(ledger.use().calls, 1) << "the call was made";
  auto failed = ledger.Reserve({.input = 100}, Stage::kNormal);
  failed->Fail();
  EXPECT_EQ(ledger.use().calls, 2);
  EXPECT_EQ(ledger.use().failed_calls, 1);
  EXPECT_EQ(ledger.tokens_left(), 100);
}

TEST(LedgerTest, OneUnknownPriceMakesTheSumUnknownNotZero) {  // MOD-24
  Ledger ledger({}, MakeClock());
  ledger.Reserve({}, Stage::kNormal)->Settle({.input = 10, .output = 5, .cost_nano_usd = 70});
  EXPECT_EQ(ledger.use().spent.total.cost_nano_usd, 70);
  ledger.Reserve({}, Stage::kNormal)->Settle({.input = 1, .cached = 1, .estimated = true});
  EXPECT_FALSE(ledger.use().spent.total.cost_nano_usd);
  EXPECT_TRUE(ledger.use().spent.total.estimated);
  EXPECT_EQ(ledger.use().spent.total.input, 11);
  EXPECT_EQ(ledger.use().spent.total.cached, 1);
  ledger.Reserve({}, Stage::kNormal)->Settle({.cost_nano_usd = 1});
  EXPECT_FALSE(ledger.use().spent.total.cost_nano_usd);
}

TEST(LedgerTest, ManyThreadsNeverExceedALimit) {  // MOD-A4
  Ledger ledger({.calls = 500, .tokens = 100000}, MakeClock());
  std::atomic<int> granted{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 400; ++round) {
        if (auto held = ledger.Reserve({.input = 10}, Stage::kNormal)) {
          ++granted;
          held->Settle({.input = 10, .cost_nano_usd = 1});
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted, 500);
  EXPECT_EQ(ledger.use().spent.total.input, 5000);
}

TEST(LedgerTest, AReplyShrinksToWhatIsLeftAndTheLimitIsNamed) {  // FLT-7
  Ledger ledger({.tokens = 2000}, MakeClock());
  const LedgerRequest wanted{.input = 700, .output = 8192, .least_output = 256};
  auto first = ledger.Reserve(wanted, Stage::kNormal);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->output(), 1300);
  EXPECT_EQ(first->shrunk_by(), "tokens");
  first->Settle({.input = 700, .output = 345});
  EXPECT_THAT(ledger.Reserve(wanted, Stage::kNormal),
              FailsWith(ErrorCode::kLimit,
                        "tokens: 1,045 of 2,000 used or reserved, this request "
                        "needs 956"));
  EXPECT_EQ(ledger.exhausted(), std::vector<std::string>{});
  EXPECT_EQ(ledger.hit(), std::vector<std::string>{"tokens"});
}

TEST(LedgerTest, MoneyBoundsTheReplyByItsOwnPrice) {  // FLT-5
  Ledger ledger({.nano_usd = 10'000}, MakeClock());
  const LedgerRequest wanted{.input = 100,
                             .output = 8192,
                             .least_output = 256,
                             .price = TokenPrice{.input = 10, .output = 20}};
  auto held = ledger.Reserve(wanted, Stage::kNormal);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->output(), 450);
  EXPECT_EQ(held->shrunk_by(), "cost");
  EXPECT_EQ(ledger.nano_usd_left(), 0);
  held->Settle({.input = 100, .output = 450});  // the client knows of no price
  EXPECT_EQ(ledger.nano_usd_spent(), 10'000);
  EXPECT_FALSE(ledger.use().spent.total.cost_nano_usd) << "what is shown is what is known";
}

TEST(LedgerTest, WhatOthersHoldIsWaitedFor) {  // FLT-5
  Ledger ledger({.tokens = 1000}, MakeClock());
  const LedgerRequest wanted{.input = 100, .output = 800, .least_output = 256, .good_output = 800};
  auto first = ledger.Reserve(wanted, Stage::kNormal);
  int woken = 0;
  auto second = ledger.Reserve(wanted, Stage::kNormal, [&] { ++woken; });
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->granted());
  EXPECT_EQ(ledger.use().calls, 1);
  first->Settle({.input = 100, .output = 50});
  EXPECT_EQ(woken, 1);
  second = ledger.Reserve(wanted, Stage::kNormal, [&] { ++woken; });
  ASSERT_TRUE(second && second->granted());
  EXPECT_EQ(second->output(), 750) << "alone it gets all that is left";
  EXPECT_THAT(ledger.Reserve({.input = 900, .output = 1, .least_output = 1}, Stage::kNormal, [] {}),
              FailsWith(ErrorCode::kLimit, "tokens"))
      << "what cannot fit whatever comes back does not wait";
}

TEST(LedgerTest, WhatWaitsToBeSentGetsAShare) {  // FLT-5
  Ledger ledger({.tokens = 1000}, MakeClock());
  LedgerRequest wanted{.input = 100, .output = 8000, .least_output = 50, .good_output = 150};
  wanted.others = LedgerRequest::Others::kWait;
  auto first = ledger.Reserve(wanted, Stage::kNormal, [] {});
  auto second = ledger.Reserve(wanted, Stage::kNormal, [] {});
  ASSERT_TRUE(first && second && first->granted() && second->granted());
  EXPECT_EQ(first->output(), 150);
  EXPECT_EQ(second->output(), 150);
  first->Settle({.input = 100, .output = 150});
  second->Settle({.input = 100, .output = 150});
  wanted.input = 380;
  auto last = ledger.Reserve(wanted, Stage::kNormal, [] {});
  ASSERT_TRUE(last && last->granted());
  EXPECT_EQ(last->output(), 120) << "with nobody in flight, what is left must do";
}

TEST(LedgerTest, WhatAnEarlierProcessPaidForCountsAndIsNotRefused) {  // REC-69
  Ledger ledger({.calls = 1, .tokens = 10}, MakeClock());
  ledger.CountEarlier({.input = 8, .output = 4}, /*attempts=*/2, /*failed=*/1);
  EXPECT_EQ(ledger.use().calls, 2);
  EXPECT_EQ(ledger.use().failed_calls, 1);
  EXPECT_EQ(ledger.use().spent.tokens(), 12);
  EXPECT_THAT(ledger.Reserve({}, Stage::kNormal), FailsWith(ErrorCode::kLimit, "calls:"));
}

TEST(LedgerTest, TheTimeMayBeSetLater) {  // REC-69
  auto clock = MakeClock();
  Ledger ledger({}, clock);
  EXPECT_FALSE(ledger.time_left(Stage::kNormal));
  ledger.SetDeadline(clock->Now() + Millis(300));
  EXPECT_EQ(ledger.time_left(Stage::kNormal), Millis(300));
  EXPECT_EQ(ledger.deadline(Stage::kFinish), clock->Now() + Millis(300));
}

}  // namespace
}  // namespace dossier::model
