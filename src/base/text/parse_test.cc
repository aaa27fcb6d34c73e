#include "base/text/parse.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/random.h"
#include "base/text/text.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;

TEST(ParseTimeTest, TimesAsPeopleAndProgramsWriteThem) {
  struct Case {
    const char *text, *as_utc;
  };
  constexpr Case kCases[] = {
      {"2026-11-21T23:36:43Z", "2026-11-21T23:36:43.000Z"},
      {"2026-11-21t23:36:43z", "2026-11-21T23:36:43.000Z"},
      {"2026-11-21 23:36:43Z", "2026-11-21T23:36:43.000Z"},
      {"2026-11-21T23:36:43.5Z", "2026-11-21T23:36:43.500Z"},
      {"2026-11-21T23:36:43.123456789Z", "2026-11-21T23:36:43.123Z"},
      {"2026-11-21T23:36:43+02:00", "2026-11-21T21:36:43.000Z"},
      {"2026-11-21T23:36:43-00:30", "2026-11-22T00:06:43.000Z"},
      {"1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"},
      {"2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"},
      {"2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"},  // a leap second
  };
  for (const Case& c : kCases) {
    const auto time = ParseTime(c.text);
    ASSERT_TRUE(time) << c.text << ": " << time.error().message;
    EXPECT_EQ(FormatTime(*time), c.as_utc) << c.text;
  }
}

TEST(ParseTimeTest, AllElseIsRefusedByName) {
  for (const char* bad : {"",
                          "now",
                          "2026-11-21",
                          "2026-11-21T23:36Z",
                          "2026-11-21T23:36:43",
                          "2026-11-21T23:36:43.Z",
                          "2026-11-21T23:36:43ZZ",
                          "2026-11-21T23:36:43+2",
                          "2026-11-21T23:36:43+02:60",
                          "2026-11-21T24:00:00Z",
                          "2026-11-21T23:60:00Z",
                          "2026-11-21T23:36:61Z",
                          "2026-13-01T00:00:00Z",
                          "2026-00-01T00:00:00Z",
                          "2026-02-30T00:00:00Z",
                          "2025-02-29T00:00:00Z",
                          "2026-04-31T00:00:00Z",
                          "26-11-21T23:36:43Z",
                          "+026-11-21T23:36:43Z",
                          "2026-1-21T23:36:43Z",
                          " 2026-11-21T23:36:43Z",
                          "2026/11/21T23:36:43Z"}) {
    EXPECT_THAT(ParseTime(bad), FailsWith(ErrorCode::kInvalidArgument, "is no time")) << bad;
  }
}

TEST(ParseTimeTest, WhatIsWrittenIsReadBack) {
  Random random(17);
  for (int round = 0; round < 2000; ++round) {
    const Clock::Wall time{Millis(random.Below(9'000'000'000'000))};  // to the year 2255
    const auto read = ParseTime(FormatTime(time));
    ASSERT_TRUE(read) << FormatTime(time);
    EXPECT_EQ(*read, time) << FormatTime(time);
  }
}

TEST(ParseTimeTest, AnyBytesAreReadOrRefused) {
  Random random(18);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = "2026-11-21T23:36:43.25+02:00";
    for (std::uint64_t change = random.Below(4); change > 0 && !text.empty(); --change) {
      const std::size_t at = random.Below(text.size());
      if (random.Below(3) == 0) {
        text.erase(at, 1);
      } else {
        text[at] = static_cast<char>(random.Below(256));
      }
    }
    static_cast<void>(ParseTime(text).has_value());
  }
}

}  // namespace

namespace {

using ::dossier::testing::FailsWith;

TEST(ParseNumber, ANumberIsFiniteDecimalAndNothingElse) {
  EXPECT_EQ(*ParseNumber("12"), 12);
  EXPECT_EQ(*ParseNumber("-0.5"), -0.5);
  EXPECT_EQ(*ParseNumber("1e3"), 1000);
  for (const char* text :
       {"nan", "-nan", "inf", "-infinity", "1e999", "0x10", "+1", " 1", "1 ", "1,5", "--1", ""}) {
    EXPECT_THAT(ParseNumber(text), FailsWith(ErrorCode::kUsage, text));
  }
}

TEST(ParseNumber, AWholeNumberIsDecimalAndFits) {
  EXPECT_EQ(*ParseWhole("0"), 0);
  EXPECT_EQ(*ParseWhole("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(*ParseNatural("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  for (const char* text :
       {"010", "0x10", "1.0", "1e3", "+1", " 1", "1x", "nan", "-", "", "99999999999999999999999"}) {
    EXPECT_THAT(ParseWhole(text), FailsWith(ErrorCode::kUsage, text));
    EXPECT_THAT(ParseNatural(text), FailsWith(ErrorCode::kUsage, text));
  }
  EXPECT_THAT(ParseNatural("-1"), FailsWith(ErrorCode::kUsage, "-1 is below 0"));
}

TEST(ParseNumber, WhatProgramsWriteIsTheWholeTextAndFits) {
  EXPECT_EQ(ExactNumber<int>("007"), 7);
  EXPECT_EQ(ExactNumber<std::uint64_t>("ff", 16), 255u);
  EXPECT_EQ(ExactNumber<double>("-1.5"), -1.5);
  for (const char* text : {"", "1 ", "0x1", "4294967296"}) {
    EXPECT_FALSE(ExactNumber<int>(text)) << text;
  }
}

TEST(ParseNumber, ADurationOrASizeIsBoundedAndWithoutExponent) {
  for (const char* text :
       {"nan", "inf", "infs", "1e9d", "1e300s", "0x10s", "1.2.3s", ".", "s", ""}) {
    EXPECT_THAT(ParseDuration(text), FailsWith(ErrorCode::kUsage, text));
    EXPECT_THAT(ParseSize(text), FailsWith(ErrorCode::kUsage, text));
  }
  EXPECT_EQ(ParseDuration("36525d")->count(), 36'525LL * 86'400'000);
  EXPECT_THAT(ParseDuration("200000d"), FailsWith(ErrorCode::kUsage, "200000d: too long"));
  EXPECT_THAT(ParseDuration(std::string(400, '9')), FailsWith(ErrorCode::kUsage, "999"));
  EXPECT_THAT(ParseSize("99999999999999999G"), FailsWith(ErrorCode::kUsage, "too large"));
}

}  // namespace

}  // namespace dossier
