#include "driver/caller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <thread>

#include "base/files/file.h"
#include "model/scripted/scripted.h"
#include "testing/result_matchers.h"

namespace dossier::driver {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;

// A model that answers as `rules` say, YAML as in docs/formats/scripts.md.
BoundModel Scripted(std::string_view rules) {
  BoundModel model{.name = "scripted"};
  model.entry.capability = {.window = 32'768, .max_output = 1'024};
  model.counter = *tokens::MakeEstimator({.bytes_per_token = 4, .margin = 0});
  model.gate = model::Gate::Make(
      model::MakeScriptedClient(*model::Script::Parse(rules, "test"), SystemClock()),
      {.retries = 0}, SystemClock());
  return model;
}

class CallerTest : public ::testing::Test {
 protected:
  model::Request Request() const {
    assembly::Assembled prompt;
    prompt.messages.turns = {{.role = assembly::Role::kUser, .blocks = {{.text = "How many?"}}}};
    return RequestTo({.name = "scripted"}, prompt, model::Purpose::kRoot);
  }

  // Hooks that note when they run.
  CallHooks Noting() {
    return {.sending =
                [this](const model::Request&) {
                  order_.emplace_back("sending");
                  return Status();
                },
            .sent = [this] { order_.emplace_back("sent"); },
            .ended =
                [this](const Called& called) {
                  order_.emplace_back(called.reply ? "reply" : "failure");
                  return Status();
                }};
  }

  const std::shared_ptr<const Clock> clock_ = SystemClock();
  model::Ledger ledger_{{}, clock_};
  std::vector<std::string> order_;
};

TEST_F(CallerTest, EachCallIsWrittenDownSentAndSummed) {
  const BoundModel model = Scripted(
      "- {reply: three, usage: {input: 100, output: 5, cached: 30, cache_write: 40, reasoning: "
      "2}}\n"
      "- {reply: four, usage: {input: 200, output: 7, cached: 60, cache_write: 80, reasoning: 3}}");
  Caller caller(ledger_, clock_);
  EXPECT_EQ(caller.Ask(model, Request(), Noting(), {}).reply->text, "three");
  EXPECT_THAT(order_, ElementsAre("sending", "sent", "reply"));
  EXPECT_EQ(caller.Ask(model, Request(), {}, {}).reply->text, "four");
  const model::UsageSum sum = caller.usage();
  EXPECT_EQ(sum.calls, 2);
  EXPECT_EQ(sum.total.input, 300);
  EXPECT_EQ(sum.total.output, 12);
  EXPECT_EQ(sum.total.cached, 90);
  EXPECT_EQ(sum.total.cache_write, 120);
  EXPECT_EQ(sum.total.reasoning, 5);
  EXPECT_EQ(ledger_.use().spent.total.cache_write, 120) << "the ledger counts the same";
}

TEST_F(CallerTest, AFailureIsWrittenDownAndCostsNothing) {
  const BoundModel model = Scripted("- {fail: {status: 401}}");
  Caller caller(ledger_, clock_);
  EXPECT_THAT(caller.Ask(model, Request(), Noting(), {}).reply, FailsWith(ErrorCode::kAuth, ""));
  EXPECT_THAT(order_, ElementsAre("sending", "sent", "failure"));
  EXPECT_EQ(caller.usage().calls, 0);
}

TEST_F(CallerTest, WhatCannotBeWrittenDownIsNotSent) {
  const BoundModel model = Scripted("- three");
  Caller caller(ledger_, clock_);
  CallHooks hooks = Noting();
  hooks.sending = [](const model::Request&) { return MakeError(ErrorCode::kIo, "disk full"); };
  EXPECT_THAT(caller.Ask(model, Request(), hooks, {}).reply,
              FailsWith(ErrorCode::kIo, "disk full"));
  EXPECT_TRUE(order_.empty());
  EXPECT_EQ(ledger_.use().calls, 0);
}

TEST_F(CallerTest, AnErrorBehindTheReplyIsTheCallsButTheReplyIsPaidFor) {
  const BoundModel model = Scripted("- three");
  Caller caller(ledger_, clock_);
  const CallHooks hooks{.ended = [](const Called&) { return MakeError(ErrorCode::kIo, "full"); }};
  EXPECT_THAT(caller.Ask(model, Request(), hooks, {}).reply, FailsWith(ErrorCode::kIo, "full"));
  EXPECT_EQ(caller.usage().calls, 1);
}

TEST_F(CallerTest, ARetriedCallIsWrittenDownOnce) {
  const BoundModel model = Scripted("- {fail: {status: 503}}\n- three");
  int waits = 0;
  Caller caller(ledger_, clock_,
                {.max_wait = Millis(60'000), .wait = [&](Millis, const CancelToken&) { ++waits; }});
  EXPECT_THAT(caller.Ask(model, Request(), Noting(), {}).reply, Succeeds());
  EXPECT_EQ(waits, 1);
  EXPECT_THAT(order_, ElementsAre("sending", "sent", "reply"));
}

TEST_F(CallerTest, ACallIsToldOnceWhenItLeavesAndNeverIfItDoesNot) {
  const BoundModel model = Scripted("- {fail: {status: 503}}\n- three");
  int left = 0;
  const CallHooks hooks{.leaves = [&] { ++left; }};
  Caller caller(ledger_, clock_,
                {.max_wait = Millis(60'000), .wait = [](Millis, const CancelToken&) {}});
  CancelSource cancelled;
  cancelled.Cancel("not now");
  EXPECT_THAT(caller.Ask(model, Request(), hooks, cancelled.token()).reply,
              FailsWith(ErrorCode::kCancelled, "not now"));
  EXPECT_EQ(left, 0);
  EXPECT_THAT(caller.Ask(model, Request(), hooks, {}).reply, Succeeds());
  EXPECT_EQ(left, 1);
}

TEST_F(CallerTest, TextIsToldAsItArrives) {
  const BoundModel model = Scripted("- one two three");
  Caller caller(ledger_, clock_);
  std::string told, last;
  const CallHooks hooks{.on_delta = [&](std::string_view delta, std::string_view so_far) {
    told += delta;
    last = so_far;
  }};
  const Called called = caller.Ask(model, Request(), hooks, {});
  EXPECT_EQ(told, "one two three");
  EXPECT_EQ(last, told);
  EXPECT_EQ(called.partial, told);
  EXPECT_TRUE(called.first_text);
}

TEST_F(CallerTest, RequestsInFlightAreSummedToo) {
  const BoundModel model =
      Scripted("- {reply: three, usage: {input: 9, output: 1, cache_write: 4}}");
  Caller caller(ledger_, clock_);
  std::mutex mutex;
  std::condition_variable arrived;
  std::optional<Result<model::Reply>> reply;
  int left = 0;
  caller.Submit(
      model, std::make_shared<const model::Request>(Request()), {}, [&] { ++left; },
      [&](Result<model::Reply> result) {
        const std::lock_guard lock(mutex);
        reply = std::move(result);
        arrived.notify_all();
      });
  std::unique_lock lock(mutex);
  arrived.wait(lock, [&] { return reply.has_value(); });
  EXPECT_THAT(*reply, Succeeds());
  EXPECT_EQ(left, 1);
  EXPECT_EQ(caller.usage().total.cache_write, 4);
}

}  // namespace

namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Attempts that fail as listed, and then succeed; no wait takes time.
struct Attempts {
  std::deque<ErrorCode> failures;
  std::vector<std::int64_t> waits;  // milliseconds
  std::vector<std::string> reasons;
  CancelSource stop;

  Result<model::Reply> Ask(Millis max_wait) {
    const RetryPolicy policy{
        .max_wait = max_wait,
        .setting = "limits.max_wait_seconds",
        .on_wait = [this](std::string_view why, Millis) { reasons.emplace_back(why); },
        .wait = [this](Millis time, const CancelToken&) { waits.push_back(time.count()); }};
    const auto attempt = [this]() -> Result<model::Reply> {
      if (failures.empty()) return model::Reply{.text = "here"};
      const ErrorCode code = failures.front();
      failures.pop_front();
      return MakeError(code, "away");
    };
    return AskWithRetry(attempt, policy, stop.token());
  }
};

TEST(RetryPolicyTest, WithoutATimeToWaitTheFirstFailureIsTheResult) {
  Attempts attempts{.failures = {ErrorCode::kRateLimited}};
  EXPECT_THAT(attempts.Ask(Millis(0)), FailsWith(ErrorCode::kRateLimited, "away"));
  EXPECT_THAT(attempts.waits, IsEmpty());
}

TEST(RetryPolicyTest, WaitsDoubleUntilTheirSumIsUsedUp) {  // RSP-46
  Attempts attempts{
      .failures = {ErrorCode::kNetwork, ErrorCode::kTimeout, ErrorCode::kRateLimited}};
  EXPECT_THAT(attempts.Ask(Millis(60'000)), Succeeds());
  EXPECT_THAT(attempts.waits, ElementsAre(5'000, 10'000, 20'000));
  EXPECT_THAT(attempts.reasons, ElementsAre("away", "away", "away"));

  Attempts longer{.failures = {10, ErrorCode::kNetwork}};
  EXPECT_THAT(
      longer.Ask(Millis(12'000)),
      FailsWith(ErrorCode::kNetwork, "away (after 12 s of waiting; limits.max_wait_seconds)"));
  EXPECT_THAT(longer.waits, ElementsAre(5'000, 7'000)) << "the last wait is cut to the rest";
}

TEST(RetryPolicyTest, TheTimeOfTheAttemptsCountsToo) {  // RSP-46
  int attempts = 0;
  const auto slow = [&]() -> Result<model::Reply> {
    ++attempts;
    const auto end = std::chrono::steady_clock::now() + Millis(2);
    while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return MakeError(ErrorCode::kNetwork, "away");
  };
  EXPECT_THAT(AskWithRetry(slow, {.max_wait = Millis(1), .setting = "s"}, CancelToken()),
              FailsWith(ErrorCode::kNetwork, "away (after 0 s of waiting; s)"));
  EXPECT_EQ(attempts, 1);
}

TEST(RetryPolicyTest, AFailureThatWillNotPassIsNotWaitedFor) {
  for (const ErrorCode code : {ErrorCode::kAuth, ErrorCode::kTooLong, ErrorCode::kLimit}) {
    Attempts attempts{.failures = {code}};
    EXPECT_THAT(attempts.Ask(Millis(60'000)), FailsWith(code, "away"));
    EXPECT_THAT(attempts.waits, IsEmpty());
  }
}

TEST(RetryPolicyTest, ACancelledCallIsNotAskedAgain) {
  Attempts attempts{.failures = {ErrorCode::kNetwork, ErrorCode::kNetwork}};
  attempts.stop.Cancel("enough");
  EXPECT_THAT(attempts.Ask(Millis(60'000)), FailsWith(ErrorCode::kCancelled, "enough"));
  EXPECT_THAT(attempts.waits, IsEmpty());
}

TEST(RetryPolicyTest, APauseEndsWithItsCancellation) {
  CancelSource stop;
  stop.Cancel("enough");
  const auto begun = SystemClock()->Now();
  EXPECT_FALSE(WaitUnlessCancelled(Millis(60'000), stop.token()));
  EXPECT_LT(SystemClock()->Now() - begun, Millis(30'000));
}

// A layout whose call makes room is filled as any other.
TEST_F(CallerTest, TheUsersSectionsAreInTheCallOfALayout) {  // ASM-118, HSE-21
  const TempFolder folder = *TempFolder::Make("layout-call");
  ASSERT_THAT(MakeFolders(folder.path() + "/layouts"), Succeeds());
  ASSERT_THAT(WriteFileAtomic(folder.path() + "/layouts/memory.rate.yaml",
                              "name: memory.rate\nsections:\n"
                              "  - {name: facts, zone: volatile, role: user, source: data, trust: "
                              "untrusted, fence: data}\n"
                              "  - {name: mine, zone: volatile, role: user, source: memory}\n"
                              "  - {name: go, zone: request, role: user, text: Go}\n"),
              Succeeds());
  const LayoutSources sources{
      .folders = {.overrides = {folder.path()}},
      .makers = {{"memory", [](const Json&, const SectionValues& values) {
                    return Result<std::optional<std::string>>("count " + values.at("count"));
                  }}}};
  const BoundModel model = Scripted("- {reply: '[1, 2, 3]'}\n");
  Caller caller(ledger_, clock_);
  LayoutCall call{.layout = "memory.rate",
                  .sections = {{.name = "facts", .content = "one, two, three"}},
                  .values = {{"count", "3"}},
                  .max_output = 64};
  const auto prompt = AssembleLayout(call, sources, model, {});
  ASSERT_THAT(prompt, Succeeds());
  std::string text;
  for (const assembly::Turn& turn : prompt->messages.turns) text += turn.Text();
  EXPECT_THAT(text, ::testing::HasSubstr("one, two, three"));
  EXPECT_THAT(text, ::testing::HasSubstr("count 3"));
  const auto reply = AskByLayout(call, sources, model, caller, {});
  ASSERT_THAT(reply, Succeeds());
  EXPECT_EQ(reply->text, "[1, 2, 3]");
  EXPECT_EQ(caller.usage().calls, 1);
  EXPECT_THAT(AskByLayout(call, sources, Scripted("- {reply: ' '}\n"), caller, {}),
              FailsWith(ErrorCode::kNetwork, "no text"));
}

}  // namespace
}  // namespace dossier::driver
