#include "driver/retry_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "testing/result_matchers.h"

namespace dossier::driver {
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

}  // namespace
}  // namespace dossier::driver
