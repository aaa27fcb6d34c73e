#include "research/files/number_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/random.h"

namespace dossier::research {
namespace {

TEST(NumberTextTest, ANumberIsTheShortestTextThatReadsBackEqual) {  // FLT-60
  const struct {
    double value;
    const char* text;
  } kCases[] = {{1e-6, "1e-06"},  {3.12, "3.12"},   {0.1 + 0.2, "0.30000000000000004"},
                {30, "30"},       {-0.25, "-0.25"}, {0, "0"},
                {1e300, "1e+300"}};
  for (const auto& example : kCases) EXPECT_EQ(NumberText(example.value), example.text);
  EXPECT_EQ(NumberText(std::numeric_limits<double>::infinity()), "N/A");
  EXPECT_EQ(NumberText(std::numeric_limits<double>::quiet_NaN()), "N/A");
  Random random(60);
  for (int round = 0; round < 20'000; ++round) {
    const auto value = std::bit_cast<double>(random.Next());
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(std::strtod(NumberText(value).c_str(), nullptr), value);
  }
}

TEST(NumberTextTest, RoundingKeepsFourDigitsAndNoNumberBecomesZero) {  // FLT-60
  const struct {
    double value;
    const char* text;
  } kCases[] = {{0.123456, "0.1235"}, {1.23456e-6, "1.235e-06"}, {123456.78, "123457"},
                {41.2, "41.2"},       {999.95, "1000"},          {-0.00004, "-4e-05"}};
  for (const auto& example : kCases) EXPECT_EQ(RoundedText(example.value), example.text);
  Random random(61);
  for (int round = 0; round < 20'000; ++round) {
    const auto value = std::bit_cast<double>(random.Next());
    if (!std::isfinite(value) || value == 0) continue;
    const double back = std::strtod(RoundedText(value).c_str(), nullptr);
    EXPECT_LE(std::fabs(back - value), std::fabs(value) * 5.1e-4) << value;
  }
}

TEST(NumberTextTest, SmallAmountsOfMoneyAreSeen) {  // FLT-60: the same fault
  EXPECT_EQ(UsdText(0), "0.0000");
  EXPECT_EQ(UsdText(0.05), "0.0500");
  EXPECT_EQ(UsdText(12.5), "12.5000");
  EXPECT_EQ(UsdText(0.000003), "3e-06");
  EXPECT_EQ(SecondsText(0.04), "0.04 s");
}

}  // namespace
}  // namespace dossier::research
