#include "model/client/gate.h"

#include <gtest/gtest.h>

#include <semaphore>
#include <thread>
#include <utility>

#include "base/random.h"
#include "model/client/client.h"
#include "model/client/gate_core.h"
#include "testing/fakes_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;

constexpr Failure kAgain{.retry = Failure::Retry::kYes, .status = 500};

// A gate whose clock, timer and client the test moves.
class GateTest : public ::testing::Test {
 protected:
  void Open(GateOptions options) { gate_ = MakeGate(client_, std::move(options), clock_, timer_); }
  void TearDown() override {
    timer_->RunDue();  // refusals
    // The gate waits for its requests: none may be left open by a test.
    gate_.reset();
  }
  std::shared_ptr<RecordingSink> Submit(Request request = UserRequest("x"),
                                        const CancelToken& cancel = {},
                                        Stage stage = Stage::kNormal) {
    auto sink = std::make_shared<RecordingSink>();
    gate_->Submit(std::make_shared<const Request>(std::move(request)), ledger(), stage, cancel,
                  sink);
    return sink;
  }
  Ledger& ledger() {
    if (!ledger_) ledger_.emplace(limits_, clock_);
    return *ledger_;
  }
  void Pass(Millis time) {
    clock_->Advance(time);
    timer_->RunDue();
  }

  LedgerLimits limits_;
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  const std::shared_ptr<ManualTimer> timer_ = std::make_shared<ManualTimer>(clock_);
  const std::shared_ptr<FakeClient> client_ = std::make_shared<FakeClient>();
  std::optional<Ledger> ledger_;
  std::unique_ptr<Gate> gate_;
};

TEST_F(GateTest, NeverMoreInFlightThanTheLimit) {  // MOD-A4, MOD-22
  Open({.concurrency = 16});
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (int i = 0; i < 500; ++i) sinks.push_back(Submit());
  EXPECT_EQ(gate_->in_flight(), 16);
  for (std::size_t i = 0; i < 500; ++i) client_->Answer(i, "a");
  EXPECT_EQ(client_->most_open(), 16);
  for (const auto& sink : sinks) EXPECT_EQ(sink->times_done, 1);
  EXPECT_EQ(ledger().use().calls, 500);
}

TEST_F(GateTest, AServerThatIgnoresTheCapIsStoppedAndItsReplyIsCut) {  // FLT-9
  Open({});
  Request request = UserRequest("x");
  request.sampling.max_output = 100;
  auto sink = Submit(std::move(request));
  const auto call = client_->call(0);
  for (int i = 0; i < 100 && !call.cancel.cancelled(); ++i) {
    call.sink->OnDelta("one two three four five six seven eight ");
    Pass(Millis(0));
  }
  ASSERT_TRUE(call.cancel.cancelled());
  client_->Fail(0, ErrorCode::kCancelled, {});
  ASSERT_TRUE(sink->result && *sink->result);
  EXPECT_EQ((*sink->result)->finish, Finish::kCut);
  EXPECT_GT((*sink->result)->usage.output, MostTaken(100));
  EXPECT_LT((*sink->result)->usage.output, 2 * MostTaken(100));
  EXPECT_THAT((*sink->result)->warnings,
              ::testing::ElementsAre(::testing::HasSubstr("100 tokens")));
}

TEST_F(GateTest, ABatchUnderALimitIsSentSideBySideOnceAReplyIsKnown) {  // FLT-5
  limits_.tokens = 20'000;
  Open({.concurrency = 8, .max_output = 50'000});
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (int i = 0; i < 20; ++i) sinks.push_back(Submit());
  EXPECT_EQ(client_->most_open(), 1) << "nobody knows how long a reply will be";
  client_->Answer(0, "a");
  Pass(Millis(0));
  EXPECT_EQ(gate_->in_flight(), 8);
  for (std::size_t i = 1; i < 20; ++i) {
    client_->Answer(i, "a");
    Pass(Millis(0));
  }
  for (const auto& sink : sinks) EXPECT_TRUE(sink->result && *sink->result);
  EXPECT_LE(ledger().use().spent.tokens(), 20'000);
}

TEST_F(GateTest, AReplyALittlePastItsCapIsLeftAlone) {
  Open({});
  Request request = UserRequest("x");
  request.sampling.max_output = 100;
  auto sink = Submit(std::move(request));
  client_->call(0).sink->OnDelta(std::string(4 * 150, 'a'));
  Pass(Millis(0));
  EXPECT_FALSE(client_->call(0).cancel.cancelled());
  client_->Answer(0, "a");
}

TEST_F(GateTest, TakesTurnsBetweenCallsAndKeepsOrderWithinOne) {  // MOD-22
  Open({.concurrency = 1});
  const auto submit = [&](std::string text, std::string path, Purpose purpose) {
    Request request = UserRequest(std::move(text));
    request.path = std::move(path);
    request.purpose = purpose;
    return Submit(std::move(request));
  };
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (int i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i);
    sinks.push_back(submit("map" + number, "0." + number, Purpose::kMap));
  }
  sinks.push_back(submit("child0", "0.3", Purpose::kRoot));
  sinks.push_back(submit("child1", "0.3", Purpose::kRoot));
  std::string order;
  for (std::size_t i = 0; i < 5; ++i) {
    order += client_->call(i).request->messages.turns[0].Text() + " ";
    client_->Answer(i, "a");
  }
  EXPECT_EQ(order, "map0 map1 child0 map2 child1 ");
}

TEST_F(GateTest, RetriesWhatMayPassAndCountsEveryAttempt) {  // MOD-21, MOD-A3
  Open({.retries = 4, .first_delay = Millis(500)});
  auto sink = Submit();
  for (std::size_t attempt = 0; attempt < 3; ++attempt) {
    client_->Fail(attempt, ErrorCode::kNetwork, kAgain);
    Pass(Millis(60'000));
  }
  client_->Answer(3, "done");
  ASSERT_TRUE(sink->result && *sink->result);
  EXPECT_EQ((*sink->result)->attempts, 4);
  ASSERT_EQ(sink->retries.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_LE(sink->retries[i].count(), 500 << i) << "full jitter under 0.5 s x 2^n";
  }
  EXPECT_EQ(ledger().use().calls, 4);
  EXPECT_EQ(ledger().use().failed_calls, 3);
}

TEST_F(GateTest, GivesUpAfterTheLastRetryAndSaysHowLongItWaited) {  // MOD-21
  Open({.retries = 1});
  auto sink = Submit();
  client_->Fail(0, ErrorCode::kRateLimited,
                {.retry = Failure::Retry::kYes, .status = 429, .retry_after = Millis(2000)});
  Pass(Millis(2000));
  client_->Fail(1, ErrorCode::kRateLimited, {.retry = Failure::Retry::kYes, .status = 429});
  EXPECT_THAT(*sink->result,
              FailsWith(ErrorCode::kRateLimited, "2 attempts, waited 2.0 s between them"));
}

TEST_F(GateTest, TheServersWishForAWaitWinsIfLonger) {  // MOD-21, MOD-A3
  Open({.first_delay = Millis(1)});
  auto sink = Submit();
  client_->Fail(0, ErrorCode::kRateLimited,
                {.retry = Failure::Retry::kYes, .status = 429, .retry_after = Millis(1000)});
  EXPECT_EQ(sink->retries, std::vector<Millis>{Millis(1000)});
  Pass(Millis(999));
  EXPECT_EQ(client_->calls(), 1u);
  Pass(Millis(1));
  EXPECT_EQ(client_->calls(), 2u);
  client_->Answer(1, "a");
}

TEST_F(GateTest, AWaitPastTheDeadlineFailsAtOnce) {  // MOD-21, MOD-A3
  struct Case {
    std::optional<Millis> run_time;
    Millis wish;
  };
  for (const Case& c : {Case{Millis(5000), Millis(6000)}, Case{std::nullopt, Millis(400'000)}}) {
    limits_.deadline.reset();
    if (c.run_time) limits_.deadline = clock_->Now() + *c.run_time;
    ledger_.reset();
    Open({});
    const std::size_t index = client_->calls();
    auto sink = Submit();
    client_->Fail(index, ErrorCode::kRateLimited,
                  {.retry = Failure::Retry::kYes, .status = 429, .retry_after = c.wish});
    ASSERT_TRUE(sink->result);
    EXPECT_THAT(*sink->result, FailsWith(ErrorCode::kRateLimited, "past the deadline"));
    gate_.reset();
  }
}

TEST_F(GateTest, DoesNotRetryWhatCannotPassNorAfterText) {  // MOD-21
  Open({});
  auto refused = Submit();
  client_->Fail(0, ErrorCode::kAuth, {.status = 401});
  EXPECT_THAT(*refused->result, FailsWith(ErrorCode::kAuth, "401"));
  auto begun = Submit();
  client_->call(1).sink->OnDelta("Once upon");
  client_->Fail(1, ErrorCode::kNetwork, kAgain);
  EXPECT_THAT(*begun->result, FailsWith(ErrorCode::kNetwork, "500"));
  EXPECT_EQ(client_->calls(), 2u);
  EXPECT_GT(ledger().use().spent.total.output, 0) << "text that arrived was paid for";
}

TEST_F(GateTest, ARetryNeedsACallOfTheLedger) {  // MOD-20, REC-51
  limits_.calls = 1;
  Open({});
  auto sink = Submit();
  client_->Fail(0, ErrorCode::kNetwork, kAgain);
  Pass(Millis(60'000));
  EXPECT_THAT(*sink->result,
              FailsWith(ErrorCode::kLimit, "calls: 1 of 1 used; the attempt before"));
}

TEST_F(GateTest, HalvesOn429AndGrowsByOnePerWindow) {  // MOD-22
  Open({.concurrency = 8, .first_delay = Millis(0)});
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (int i = 0; i < 100; ++i) sinks.push_back(Submit());
  const Failure too_many{.retry = Failure::Retry::kYes, .status = 429};
  client_->Fail(0, ErrorCode::kRateLimited, too_many);
  client_->Fail(1, ErrorCode::kRateLimited, too_many);  // of the same burst: halves only once
  for (std::size_t i = 2; i < 8; ++i) client_->Answer(i, "a");
  EXPECT_EQ(gate_->in_flight(), 5) << "4, and one for six successes";
  for (std::size_t i = 8; i < client_->calls(); ++i) {
    client_->Answer(i, "a");
    Pass(Millis(1));
  }
  EXPECT_EQ(client_->most_open(), 8);
  for (const auto& sink : sinks) EXPECT_TRUE(sink->result && *sink->result);
}

TEST_F(GateTest, CancellingEndsWhatIsSentQueuedAndWaiting) {  // MOD-23, MOD-A5
  limits_.tokens = 100'000;
  Open({.concurrency = 2, .first_delay = Millis(10)});
  CancelSource source;
  Request request = UserRequest("x");
  request.estimated_tokens = 10;
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (int i = 0; i < 100; ++i) sinks.push_back(Submit(request, source.token()));
  client_->Fail(0, ErrorCode::kNetwork,
                {.retry = Failure::Retry::kYes, .retry_after = Millis(1000)});
  source.Cancel("enough");
  timer_->RunDue();
  for (std::size_t i = 1; i < client_->calls(); ++i) {
    EXPECT_TRUE(client_->call(i).cancel.cancelled());
    client_->Fail(i, ErrorCode::kCancelled, {});
  }
  for (const auto& sink : sinks) {
    ASSERT_EQ(sink->times_done, 1);
    EXPECT_EQ(sink->result->error().code, ErrorCode::kCancelled);
  }
  EXPECT_EQ(gate_->in_flight(), 0);
  EXPECT_EQ(ledger().use().calls, static_cast<std::int64_t>(client_->calls()));
  EXPECT_EQ(*ledger().tokens_left() + ledger().use().spent.total.input, 100'000)
      << "nothing is held";
}

TEST_F(GateTest, AnAlreadyCancelledRequestIsNeverSent) {  // MOD-20
  Open({});
  CancelSource source;
  source.Cancel("before");
  auto sink = Submit(UserRequest("x"), source.token());
  EXPECT_FALSE(sink->result) << "a sink is not called before Submit returns";
  timer_->RunDue();
  EXPECT_THAT(*sink->result, FailsWith(ErrorCode::kCancelled, "before"));
  EXPECT_EQ(client_->calls(), 0u);
  EXPECT_EQ(ledger().use().calls, 0);
}

// Records when its request leaves, and may cancel it then.
struct LeavingSink final : RecordingSink {
  explicit LeavingSink(CancelSource* ends = nullptr) : ends(ends) {}
  void OnSending() override {
    ++leaves;
    if (ends) ends->Cancel("its record cannot be written");
  }
  CancelSource* const ends;
  int leaves = 0;
};

TEST_F(GateTest, ASinkIsToldOnceWhenItsRequestLeaves) {  // REC-69
  Open({.concurrency = 1});
  std::vector<std::shared_ptr<LeavingSink>> sinks;
  for (int i = 0; i < 3; ++i) {
    sinks.push_back(std::make_shared<LeavingSink>());
    gate_->Submit(std::make_shared<const Request>(UserRequest("x")), ledger(), Stage::kNormal, {},
                  sinks.back());
  }
  EXPECT_EQ(sinks[0]->leaves, 1);
  EXPECT_EQ(sinks[1]->leaves, 0) << "it waits for the first";
  for (std::size_t i = 0; i < 3; ++i) client_->Answer(i, "a");
  for (const auto& sink : sinks) EXPECT_EQ(sink->leaves, 1);
}

TEST_F(GateTest, WhatIsCancelledAsItLeavesIsNotSent) {  // REC-69
  Open({.concurrency = 1});
  CancelSource source;
  const auto sink = std::make_shared<LeavingSink>(&source);
  gate_->Submit(std::make_shared<const Request>(UserRequest("x")), ledger(), Stage::kNormal,
                source.token(), sink);
  const auto next = Submit();
  Pass(Millis(0));
  EXPECT_EQ(sink->times_done, 1);
  ASSERT_EQ(client_->calls(), 1u) << "the next one has its place";
  client_->Answer(0, "a");
  EXPECT_EQ(next->times_done, 1);
  EXPECT_EQ(ledger().use().calls, 1);
}

TEST_F(GateTest, WhenTheRunsTimeEndsRequestsInFlightAreStopped) {  // REC-57
  limits_.deadline = clock_->Now() + Millis(1000);
  Open({});
  auto sink = Submit();
  Pass(Millis(1000));
  EXPECT_TRUE(client_->call(0).cancel.cancelled());
  client_->Fail(0, ErrorCode::kCancelled, {});
  EXPECT_THAT(*sink->result, FailsWith(ErrorCode::kLimit, "time:"));
}

TEST_F(GateTest, ClosingTheGateCancelsAndWaits) {
  Open({.concurrency = 1});
  auto sent = Submit();
  std::vector<std::shared_ptr<RecordingSink>> queued;
  for (int i = 0; i < 8; ++i) queued.push_back(Submit());
  client_->call(0).cancel.OnCancel([&] {
    // A client answers from its own thread; then there is room for another request.
    std::thread([&] { client_->Fail(0, ErrorCode::kCancelled, {}); }).join();
  });
  gate_.reset();
  EXPECT_EQ(sent->times_done, 1);
  for (const auto& sink : queued) EXPECT_EQ(sink->times_done, 1);
  EXPECT_EQ(client_->calls(), 1u) << "nothing is sent while the gate closes";
}

Request SizedRequest(std::int64_t prompt, std::optional<std::int64_t> cap) {
  Request request = UserRequest("x");
  request.estimated_tokens = prompt;
  request.sampling.max_output = cap;
  return request;
}

TEST_F(GateTest, WhatIsReservedIsTheCapThatIsSent) {  // FLT-5, FLT-7
  limits_.tokens = 1000;
  Open({.max_output = 4096});
  auto first = Submit(SizedRequest(200, std::nullopt));
  EXPECT_EQ(client_->call(0).request->sampling.max_output, 800);
  EXPECT_EQ(ledger().tokens_left(), 0);
  client_->Answer(0, "a", {.input = 200, .output = 100});
  auto second = Submit(SizedRequest(200, 300));
  EXPECT_EQ(client_->call(1).request->sampling.max_output, 300) << "its own cap still fits";
  client_->Answer(1, "a", {.input = 200, .output = 300});
  auto third = Submit(SizedRequest(10, 300));
  timer_->RunDue();
  EXPECT_THAT(*third->result, FailsWith(ErrorCode::kLimit, "tokens: 800 of 1,000"));
  EXPECT_EQ(client_->calls(), 2u);
}

TEST_F(GateTest, ReservedIsWhenTheRequestIsSentNotWhenItIsQueued) {  // FLT-5
  limits_.tokens = 1200;
  Open({.concurrency = 1});
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (int i = 0; i < 3; ++i) sinks.push_back(Submit(SizedRequest(300, 300)));
  EXPECT_EQ(ledger().tokens_left(), 600);
  client_->Answer(0, "a", {.input = 300, .output = 20});
  client_->Answer(1, "a", {.input = 300, .output = 20});
  ASSERT_EQ(client_->calls(), 3u);
  EXPECT_EQ(client_->call(2).request->sampling.max_output, 260) << "640 were used, 300 are prompt";
  client_->Answer(2, "a", {.input = 300, .output = 20});
}

TEST_F(GateTest, WhatAnotherGateHoldsIsWaitedFor) {  // FLT-5
  limits_.tokens = 1000;
  Open({.concurrency = 4});
  const auto other_client = std::make_shared<FakeClient>();
  const auto other = MakeGate(other_client, {.concurrency = 4}, clock_, timer_);
  auto holder = std::make_shared<RecordingSink>();
  other->Submit(std::make_shared<const Request>(SizedRequest(100, 800)), ledger(), Stage::kNormal,
                {}, holder);
  CancelSource source;
  auto first = Submit(SizedRequest(100, 500), source.token());
  auto second = Submit(SizedRequest(100, 400));
  EXPECT_EQ(client_->calls(), 0u);
  source.Cancel("not needed");
  timer_->RunDue();
  EXPECT_THAT(*first->result, FailsWith(ErrorCode::kCancelled, "not needed"));
  EXPECT_FALSE(second->result);
  other_client->Answer(0, "a", {.input = 100, .output = 100});
  timer_->RunDue();
  ASSERT_EQ(client_->calls(), 1u);
  client_->Answer(0, "a", {.input = 100, .output = 400});
  EXPECT_TRUE(second->result && *second->result);
  EXPECT_EQ(ledger().in_flight(), 0);
}

TEST_F(GateTest, ARetryReservesAnew) {  // FLT-5
  limits_.tokens = 1000;
  Open({.retries = 3, .first_delay = Millis(1)});
  auto sink = Submit(SizedRequest(300, 600));
  client_->Fail(0, ErrorCode::kNetwork, kAgain);
  EXPECT_EQ(ledger().tokens_left(), 1000) << "nothing is held while it waits";
  Pass(Millis(1));
  EXPECT_EQ(ledger().tokens_left(), 100);
  client_->Answer(1, "a", {.input = 300, .output = 1});
  EXPECT_EQ(ledger().tokens_left(), 699);
}

TEST_F(GateTest, AReplyThatAShrunkCapCutNamesTheLimit) {  // FLT-7
  limits_.tokens = 1000;
  Open({});
  auto sink = Submit(SizedRequest(200, 5000));
  Reply cut{.text = "and so", .finish = Finish::kLength, .usage = {.input = 200, .output = 500}};
  client_->call(0).sink->OnDone(cut);
  EXPECT_EQ(ledger().hit(), std::vector<std::string>{"tokens"});
}

TEST_F(GateTest, AnEstimateIsOfThePromptAndTheReplyByTheCounter) {  // FLT-9
  for (const bool cancelled : {false, true}) {
    ledger_.reset();
    limits_.tokens = 100'000;
    Open({.counter = tokens::MakeCharCounter()});
    const std::size_t index = client_->calls();
    auto sink = Submit(SizedRequest(2600, 8192));
    client_->call(index).sink->OnDelta("twelve chars");
    if (cancelled) {
      client_->Fail(index, ErrorCode::kCancelled, {});
    } else {
      client_->Answer(index, "twelve chars", {.input = 2600, .output = 3, .estimated = true});
    }
    EXPECT_EQ(ledger().use().spent.total.input, 2600);
    EXPECT_EQ(ledger().use().spent.total.output, 12);
    EXPECT_TRUE(ledger().use().spent.total.estimated);
    gate_.reset();
  }
}

TEST_F(GateTest, ARequestThatWasSentAndNeverAnsweredIsSettledAtItsPrompt) {  // FLT-5, FLT-9
  limits_.tokens = 10'000;
  Open({.retries = 1, .first_delay = Millis(1)});
  auto sink = Submit(SizedRequest(600, 300));
  const Failure silent{.retry = Failure::Retry::kYes, .sent = Failure::Sent::kYes};
  client_->Fail(0, ErrorCode::kTimeout, silent);
  Pass(Millis(1));
  client_->Fail(1, ErrorCode::kTimeout, silent);
  EXPECT_EQ(ledger().use().spent.total.input, 1200) << "each attempt";
  EXPECT_EQ(ledger().use().failed_calls, 2);
  EXPECT_TRUE(ledger().use().spent.total.estimated);
  // One that was refused, or never arrived, is free.
  auto refused = Submit(SizedRequest(600, 300));
  client_->Fail(2, ErrorCode::kRateLimited, {.status = 429});
  EXPECT_EQ(ledger().use().spent.total.input, 1200);
  // One whose failure says what it cost costs that.
  auto said = Submit(SizedRequest(600, 300));
  client_->Fail(3, ErrorCode::kNetwork, {.status = 500, .usage = Usage{.input = 590, .output = 7}});
  EXPECT_EQ(ledger().use().spent.total.input, 1790);
  EXPECT_EQ(ledger().use().failed_calls, 4);
}

TEST_F(GateTest, AServerThatIgnoresTheCapAndSaysNothingIsReckonedWith) {  // FLT-5
  limits_.tokens = 20'000;
  Open({.concurrency = 4, .counter = tokens::MakeCharCounter()});
  auto first = Submit(SizedRequest(100, 300));
  client_->Answer(0, std::string(5000, 'x'), {.input = 100, .output = 1250, .estimated = true});
  EXPECT_EQ(ledger().use().spent.total.output, 5000);
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (int i = 0; i < 8; ++i) sinks.push_back(Submit(SizedRequest(100, 300)));
  for (std::size_t i = 1; i < client_->calls(); ++i) {
    EXPECT_LE(client_->call(i).request->sampling.max_output, 300) << "no more than was asked for";
    client_->Answer(i, std::string(5000, 'x'), {.input = 100, .output = 1250, .estimated = true});
    timer_->RunDue();
  }
  const LedgerUse use = ledger().use();
  EXPECT_LE(use.spent.tokens(), 20'000);
  EXPECT_EQ(client_->calls(), 3u);
}

// Requests, cancellations, failures and answers from many threads: every sink hears once, the
// ledger holds nothing at the end.
TEST(GateStressTest, EverySinkHearsExactlyOnce) {
  auto client = std::make_shared<FakeClient>();
  auto gate =
      Gate::Make(client, {.concurrency = 8, .retries = 2, .first_delay = Millis(1)}, SystemClock());
  Ledger ledger({.tokens = 1'000'000}, SystemClock());
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  std::vector<std::unique_ptr<CancelSource>> sources;
  std::atomic<bool> stop{false};
  std::thread network([&] {
    Random random(3);
    for (std::size_t next = 0; !stop || next < client->calls();) {
      if (next >= client->calls()) {
        std::this_thread::yield();
        continue;
      }
      switch (client->call(next).cancel.cancelled() ? 0 : random.Below(4)) {
        case 0:
          client->Fail(next, ErrorCode::kCancelled, {});
          break;
        case 1:
          client->Fail(next, ErrorCode::kNetwork, kAgain);
          break;
        default:
          client->Answer(next, "a", {.input = 3, .cost_nano_usd = 1});
      }
      ++next;
    }
  });
  for (int i = 0; i < 600; ++i) {
    sources.push_back(std::make_unique<CancelSource>());
    sinks.push_back(std::make_shared<RecordingSink>());
    Request request = UserRequest("x");
    request.estimated_tokens = 5;
    gate->Submit(std::make_shared<const Request>(std::move(request)), ledger, Stage::kNormal,
                 sources.back()->token(), sinks.back());
    if (i % 3 == 0) sources[static_cast<std::size_t>(i) / 2]->Cancel("some");
  }
  for (const auto& sink : sinks) (void)sink->Wait().has_value();
  gate.reset();
  stop = true;
  network.join();
  for (const auto& sink : sinks) EXPECT_EQ(sink->times_done, 1);
  EXPECT_EQ(*ledger.tokens_left(), 1'000'000 - ledger.use().spent.tokens());
}

TEST(TimerTest, TasksRunInOrderOfTimeAndForgottenOnesNot) {
  std::mutex mutex;
  std::condition_variable done;
  std::string order;
  auto timer = MakeThreadTimer(SystemClock());
  const auto now = SystemClock()->Now();
  const auto add = [&](const char* name) {
    return [&, name] {
      std::lock_guard lock(mutex);
      order += name;
      done.notify_all();
    };
  };
  timer->At(now + Millis(40), add("c"));
  timer->At(now + Millis(20), add("b"));
  const std::uint64_t dropped = timer->At(now + Millis(30), add("x"));
  timer->Forget(dropped);
  timer->Post(add("a"));
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return order.size() == 3; });
  EXPECT_EQ(order, "abc");
}

// A client is as slow as it likes to let go of a sink. Were the sink an owner of the client, the
// client would end on its own thread and wait there for itself.
TEST(GateOwnershipTest, AClientEndsWithTheGateWhateverItStillHolds) {
  struct SlowToLetGo final : Client {
    explicit SlowToLetGo(std::shared_ptr<Sink>* given) : kept(given) {}
    void Submit(std::shared_ptr<const Request>, CancelToken, std::shared_ptr<Sink> sink) override {
      *kept = std::move(sink);
    }
    std::shared_ptr<Sink>* const kept;
  };
  std::shared_ptr<Sink> kept;
  auto client = std::make_shared<SlowToLetGo>(&kept);
  auto clock = std::make_shared<ManualClock>();
  auto timer = std::make_shared<ManualTimer>(clock);
  const std::weak_ptr<Client> client_alive = client;
  const std::weak_ptr<Timer> timer_alive = timer;
  Ledger ledger({}, clock);
  auto gate = MakeGate(std::move(client), {}, clock, std::move(timer));
  const auto sink = std::make_shared<RecordingSink>();
  gate->Submit(std::make_shared<const Request>(UserRequest("x")), ledger, Stage::kNormal, {}, sink);
  std::thread([&] { kept->OnDone(Reply{}); }).join();
  gate.reset();
  EXPECT_TRUE(sink->Wait().has_value());
  ASSERT_TRUE(kept);
  EXPECT_TRUE(client_alive.expired()) << "the sink owns the client that calls it";
  EXPECT_TRUE(timer_alive.expired()) << "the sink owns the gate's timer";
}

// A retry is sent by the timer's thread; its answer may come before that call has returned.
TEST(GateOwnershipTest, ACallByTheTimerEndsBeforeTheClientDoes) {
  struct AnswersFirst final : Client {
    ~AnswersFirst() override { EXPECT_TRUE(returned) << "it ended in the middle of a call"; }
    void Submit(std::shared_ptr<const Request>, CancelToken, std::shared_ptr<Sink> sink) override {
      if (calls++ == 0) {
        first = std::thread([sink] {
          sink->OnFailure(kAgain);
          sink->OnDone(MakeError(ErrorCode::kNetwork, "broken"));
        });
        return;
      }
      first.join();
      std::thread([&] { sink->OnDone(Reply{}); }).join();
      answered.release();
      go_on.acquire();
      returned = true;
    }
    std::thread first;
    std::binary_semaphore answered{0}, go_on{0};
    std::atomic<int> calls{0};
    std::atomic<bool> returned{false};
  };
  auto client = std::make_shared<AnswersFirst>();
  AnswersFirst& watched = *client;
  const std::weak_ptr<Client> alive = client;
  Ledger ledger({}, SystemClock());
  auto gate = Gate::Make(std::move(client), {.first_delay = Millis(1)}, SystemClock());
  gate->Submit(std::make_shared<const Request>(UserRequest("x")), ledger, Stage::kNormal, {},
               std::make_shared<RecordingSink>());
  watched.answered.acquire();
  std::thread closer([&] { gate.reset(); });
  for (int i = 0; i < 1000 && !alive.expired(); ++i) std::this_thread::yield();
  ASSERT_FALSE(alive.expired());
  watched.go_on.release();
  closer.join();
  EXPECT_TRUE(alive.expired());
}

TEST(TimerTest, ALinkOutlivesTheTimer) {
  auto timer = MakeThreadTimer(SystemClock());
  TimerLink link(*timer);
  std::binary_semaphore ran{0};
  link.Post([&] { ran.release(); });
  ran.acquire();
  link.Cut();
  timer.reset();
  link.Post([&] { ADD_FAILURE() << "the timer has ended"; });
}

}  // namespace
}  // namespace dossier::model
