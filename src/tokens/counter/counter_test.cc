#include "tokens/counter/counter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::tokens {
namespace {

using ::dossier::testing::FailsWith;

std::shared_ptr<const Counter> Estimator(double bytes_per_token, double margin) {
  auto counter = MakeEstimator({.bytes_per_token = bytes_per_token, .margin = margin});
  EXPECT_TRUE(counter);
  return *counter;
}

TEST(EstimatorTest, TheExampleInTheHeaderWorks) {  // ASM-54
  auto counter = MakeEstimator({.bytes_per_token = 3.3, .margin = 0.15});
  ASSERT_TRUE(counter);
  const Count count = (*counter)->CountText("Which package is the largest?");
  EXPECT_EQ(count.tokens, 9);
  EXPECT_EQ(count.upper(), 11);
  EXPECT_FALSE(count.exact);
}

TEST(EstimatorTest, CountsAsciiByRatioAndOtherTextByCodePoint) {  // ASM-54, ASM-57, ASM-61
  struct Case {
    std::string_view text;
    std::int64_t tokens;
  };
  constexpr Case kCases[] = {
      {"", 0},         {"four", 1},       {"fives", 2},
      {"東京", 2},     {"naïve café", 4},  // 8 ASCII bytes, 2 others
      {"\xFF\xFE", 2},                     // invalid parts count as U+FFFD
  };
  const auto counter = Estimator(4.0, 0.15);
  for (const Case& c : kCases) EXPECT_EQ(counter->CountText(c.text).tokens, c.tokens) << c.text;
}

TEST(EstimatorTest, ALongerTextNeverCountsLessAndPartsNeverLessThanTheWhole) {  // ASM-61
  const auto counter = Estimator(4.2, 0.15);
  Random random(/*seed=*/7);
  for (int round = 0; round < 1000; ++round) {
    const std::string text = random.Utf8(/*max_bytes=*/200);
    const std::string more = random.Utf8(/*max_bytes=*/20);
    const std::int64_t whole = counter->CountText(text + more).tokens;
    EXPECT_LE(counter->CountText(text).tokens, whole) << text;
    EXPECT_LE(whole, counter->CountText(text).tokens + counter->CountText(more).tokens) << text;
  }
}

TEST(EstimatorTest, ARatioOrMarginOutOfRangeIsRefusedByName) {  // ASM-54
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const double ratio : {0.0, -1.0, kNan}) {
    EXPECT_THAT(MakeEstimator({.bytes_per_token = ratio, .margin = 0}),
                FailsWith(ErrorCode::kInvalidArgument, "bytes_per_token is"));
  }
  for (const double margin : {-0.1, 1.1, kNan}) {
    EXPECT_THAT(MakeEstimator({.bytes_per_token = 4, .margin = margin}),
                FailsWith(ErrorCode::kInvalidArgument, "margin is"));
  }
}

TEST(PlainCountersTest, CountCodePointsAndBytesExactly) {  // ASM-55
  struct Case {
    std::string_view text;
    std::int64_t chars, bytes;
  };
  constexpr Case kCases[] = {{"", 0, 0}, {"line 01\n", 8, 8}, {"naïve", 5, 6}, {"🌍", 1, 4}};
  for (const Case& c : kCases) {
    const Count chars = MakeCharCounter()->CountText(c.text);
    EXPECT_EQ(chars.tokens, c.chars) << c.text;
    EXPECT_TRUE(chars.exact);
    EXPECT_EQ(chars.upper(), c.chars);
    EXPECT_EQ(MakeByteCounter()->CountText(c.text).tokens, c.bytes) << c.text;
  }
  EXPECT_EQ(MakeCharCounter()->name(), "chars");
  EXPECT_EQ(MakeByteCounter()->name(), "bytes");
}

TEST(ScaledCounterTest, CountsAreTheOthersTimesTheRatioRoundedUp) {  // ASM-54
  const auto scaled = MakeScaled(MakeByteCounter(), 1.3, 0.15);
  ASSERT_TRUE(scaled);
  const Counter& counter = **scaled;
  for (const auto& [bytes, tokens] : {std::pair(0, 0), {1, 2}, {7, 10}, {10, 13}, {11, 15}}) {
    const std::string text(static_cast<std::size_t>(bytes), 'x');
    const Count count = counter.CountText(text);
    EXPECT_EQ(count.tokens, tokens) << bytes;
    EXPECT_FALSE(count.exact);
    EXPECT_EQ(count.margin, 0.15);
    auto running = counter.Start();
    running->Append(text);
    EXPECT_EQ(running->Total().tokens, tokens);
    EXPECT_EQ(counter.Prepare(text)->CountRange(0, text.size()).tokens, tokens);
  }
  EXPECT_EQ(counter.CountText("xxxxxxx").upper(), 12);  // 10 and 15 %
  const std::string text(50, 'x');
  for (std::int64_t limit = 0; limit < 70; ++limit) {
    const CountedPart head = counter.LongestPrefix(text, limit),
                      tail = counter.LongestSuffix(text, limit);
    EXPECT_EQ(head.bytes, tail.bytes);
    EXPECT_EQ(head.tokens, counter.CountText(text.substr(0, head.bytes)).tokens);
    EXPECT_LE(head.tokens, limit);
    if (head.bytes < text.size()) {
      EXPECT_GT(counter.CountText(text.substr(0, head.bytes + 1)).tokens, limit);
    }
  }
  EXPECT_THAT(counter.Encode("x"), FailsWith(ErrorCode::kUnavailable, "has no vocabulary"));
}

TEST(ScaledCounterTest, ARatioOrMarginOutOfRangeIsRefusedByName) {  // ASM-54
  for (const double ratio : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THAT(MakeScaled(MakeByteCounter(), ratio, 0.15),
                FailsWith(ErrorCode::kInvalidArgument, "it must be above 0"));
  }
  EXPECT_THAT(MakeScaled(MakeByteCounter(), 1.3, 1.5),
              FailsWith(ErrorCode::kInvalidArgument, "margin is 1.5; it must be 0 to 1"));
}

}  // namespace
}  // namespace dossier::tokens
