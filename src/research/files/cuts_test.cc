#include "research/files/cuts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/random.h"
#include "base/text/utf8.h"

namespace dossier::research {
namespace {

std::string Numbered(int lines) {
  std::string text;
  for (int i = 1; i <= lines; ++i) text += fmt::format("line {}\n", i);
  return text;
}

TEST(CutsTest, NodeOutputIsCutAbove5100Characters) {  // RSP-21, RSP-T11
  const std::string whole = std::string(2'550, 'a') + std::string(2'550, 'z');
  EXPECT_EQ(CutNodeOutput(whole), whole);
  EXPECT_EQ(
      CutNodeOutput(whole + "z"),
      std::string(2'500, 'a') + " ... [101 characters truncated] ... " + std::string(2'500, 'z'));
}

TEST(CutsTest, CharactersAreCodePoints) {  // RSP-T11
  std::string text;
  for (int i = 0; i < 5'100; ++i) text += "é";
  EXPECT_EQ(CutNodeOutput(text), text);
  EXPECT_NE(CutNodeOutput(text + "é"), text + "é");
  EXPECT_TRUE(utf8::IsValid(CutNodeOutput(text + "é")));
}

TEST(CutsTest, ATailKeepsTheLastLinesThenTheLastCharacters) {  // RSP-21, RSP-T11
  struct Case {
    std::string text;
    CutLimits limits;
    std::string shown;
  };
  const Case cases[] = {
      {"", {2, 10}, ""},
      {"a\nb\n", {2, 10}, "a\nb\n"},
      {"a\nb", {2, 3}, "a\nb"},
      {"a\nb\nc\n", {2, 10}, "[1 line above not shown]\nb\nc\n"},
      {"a\nb\nc\nd", {2, 10}, "[2 lines above not shown]\nc\nd"},
      {"abcdef", {2, 4}, "[2 characters above not shown]\ncdef"},
      {"a\nbcd\nefg\n",
       {2, 5},
       "[1 line above not shown]\n[3 characters above not shown]\n\nefg\n"},
      {"a\nb", {0, 5}, "[2 lines above not shown]\n"},
      {"a\nb", {2, 0}, "[3 characters above not shown]\n"},
      {"ééé", {2, 2}, "[1 character above not shown]\néé"},
  };
  for (const Case& c : cases) EXPECT_EQ(CutTail(c.text, c.limits), c.shown) << c.text;
  EXPECT_EQ(CutTail(Numbered(20), kCommandSummary), Numbered(20));
  EXPECT_THAT(CutTail(Numbered(21), kCommandSummary),
              ::testing::StartsWith("[1 line above not shown]\nline 2\n"));
}

TEST(CutsTest, ATextOfAnEventSaysHowMuchWent) {  // RSP-21
  EXPECT_EQ(CutText("abc", 3), "abc");
  EXPECT_EQ(CutText("abcd", 3), "abc ... [1 characters truncated]");
}

TEST(CutsTest, ATreeShowsTwentyEntries) {  // RSP-21
  std::vector<std::string> entries(20, "a");
  EXPECT_EQ(CutTree(entries).find('['), std::string::npos);
  entries.emplace_back("b");
  EXPECT_THAT(CutTree(entries), ::testing::EndsWith("a\n[1 more entries]\n"));
}

TEST(CutsTest, NoCutIsLongerThanItsLimitAndItsNotes) {
  Random random(/*seed=*/11);
  for (int round = 0; round < 500; ++round) {
    const std::string text = random.Utf8(/*max_bytes=*/400);
    const CutLimits limits{static_cast<std::size_t>(round % 5),
                           static_cast<std::uint64_t>(round % 60)};
    EXPECT_LE(utf8::CodePoints(CutTail(text, limits)), limits.characters + 90) << text;
    EXPECT_LE(utf8::CodePoints(CutText(text, 30)), 30u + 40u) << text;
  }
}

}  // namespace

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
