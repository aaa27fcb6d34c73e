#include "base/text/parse_number.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/text/text.h"
#include "testing/result_matchers.h"

namespace dossier {
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
