#include "tokens/counter.h"

#include <gtest/gtest.h>

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
      {"", 0},           {"four", 1},      {"fives", 2},
      {"東京", 2},       {"naïve café", 4},  // 8 ASCII bytes, 2 others
      {"\xFF\xFE", 2},  // invalid parts count as U+FFFD
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

}  // namespace
}  // namespace dossier::tokens
