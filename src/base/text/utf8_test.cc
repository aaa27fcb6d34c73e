#include "base/text/utf8.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text/utf8_kernels.h"

namespace dossier::utf8 {
namespace {

struct Expected {
  std::string_view text;
  std::uint64_t code_points, utf16_units, invalid;
};

bool Same(const Census& a, const Census& b) {
  return a.bytes == b.bytes && a.ascii_bytes == b.ascii_bytes && a.code_points == b.code_points &&
         a.wide_code_points == b.wide_code_points && a.utf16_units == b.utf16_units &&
         a.invalid == b.invalid;
}

TEST(Utf8Test, CountsCodePointsUtf16UnitsAndInvalidParts) {  // INS-4, INS-9
  constexpr Expected kCases[] = {
      {"", 0, 0, 0},
      {"abc", 3, 3, 0},
      {"\u00e9", 1, 1, 0},
      {"\U0001F600", 1, 2, 0},
      {"e\u0301", 2, 2, 0},
      {"\x80", 1, 1, 1},
      {"\xC3", 1, 1, 1},  // cut off
      {"\xC3(", 2, 2, 1},
      {"\xE2\x82", 1, 1, 1},  // a cut sequence is one part
      {"\xE2\x82(", 2, 2, 1},
      {"\xF0\x9F\x98", 1, 1, 1},
      {"\xC0\xAF", 2, 2, 2},  // overlong: no valid beginning, each byte its own part
      {"\xE0\x80\xAF", 3, 3, 3},
      {"\xED\xA0\x80", 3, 3, 3},      // a surrogate
      {"\xF4\x90\x80\x80", 4, 4, 4},  // above U+10FFFF
      {"\xF5\x80", 2, 2, 2},
      {"\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\x62", 8, 8, 5},
  };
  for (const Expected& c : kCases) {
    const Census census = Count(c.text);
    EXPECT_EQ(census.bytes, c.text.size());
    EXPECT_EQ(census.code_points, c.code_points) << ::testing::PrintToString(c.text);
    EXPECT_EQ(census.utf16_units, c.utf16_units) << ::testing::PrintToString(c.text);
    EXPECT_EQ(census.invalid, c.invalid) << ::testing::PrintToString(c.text);
    EXPECT_EQ(IsValid(c.text), c.invalid == 0);
  }
}

TEST(Utf8Test, EveryLeadAndSecondByteIsJudgedAlikeByBothKernels) {
  if (!internal::HasAvx2()) GTEST_SKIP() << "no AVX2 here";
  constexpr std::string_view kThird[] = {"", "\x80", "\x80\x80", "\xBF\xBF\x80", "a", "\x80z"};
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      for (std::string_view rest : kThird) {
        std::string text(27, 'x');  // so that the sequence crosses a vector
        text += static_cast<char>(first);
        text += static_cast<char>(second);
        text += rest;
        for (const std::string& t : {text, text.substr(27), text + std::string(40, 'y')}) {
          ASSERT_TRUE(Same(internal::CountAvx2(t), internal::CountScalar(t)))
              << first << " " << second << " " << rest.size();
        }
      }
    }
  }
}

// Mostly valid text with a few damaged bytes, so that both paths of the fast kernel run.
std::string MakeText(Random& random, std::size_t bytes) {
  std::string text = random.Below(4) == 0 ? random.Bytes(bytes) : random.Utf8(bytes);
  while (text.size() < bytes) text += 'a';
  if (random.Below(2) == 0 && !text.empty()) {
    text[random.Below(text.size())] = static_cast<char>(random.Next());
  }
  return text;
}

TEST(Utf8Test, TheFastKernelEqualsTheScalarOneAtEveryAlignmentAndLength) {  // INS-12
  if (!internal::HasAvx2()) GTEST_SKIP() << "no AVX2 here";
  Random random(11);
  const std::string base = MakeText(random, 1200);
  for (std::size_t length = 0; length <= 1100; ++length) {
    for (std::size_t start = 0; start < 32; ++start) {
      const std::string_view part = std::string_view(base).substr(start, length);
      ASSERT_TRUE(Same(internal::CountAvx2(part), internal::CountScalar(part)))
          << start << "+" << length;
    }
  }
  for (int round = 0; round < 3000; ++round) {
    const std::string text = MakeText(random, random.Below(20000));
    ASSERT_TRUE(Same(internal::CountAvx2(text), internal::CountScalar(text))) << "round " << round;
  }
}

TEST(Utf8Test, TheFirstInvalidByteIsFound) {
  EXPECT_EQ(FirstInvalid("\u00e9\xFFz"), 2u);
  EXPECT_EQ(FirstInvalid("\u00e9\xE2\x82"), 2u);
  EXPECT_EQ(FirstInvalid("\u00e9"), 2u);
  EXPECT_EQ(FirstInvalid(""), 0u);
}

TEST(Utf8Test, SanitizedTextIsValidAndKeepsItsCount) {
  Random random(3);
  for (int round = 0; round < 500; ++round) {
    const std::string text = MakeText(random, random.Below(300));
    const std::string clean = Sanitize(text);
    EXPECT_TRUE(IsValid(clean));
    EXPECT_EQ(CodePoints(clean), CodePoints(text));
  }
  EXPECT_EQ(Sanitize("a\x80z"), "a\uFFFDz");
}

TEST(Utf8Test, PrefixAndSuffixNeverCutACodePoint) {
  EXPECT_EQ(Prefix("naïve", 3), "naï");
  EXPECT_EQ(Suffix("naïve", 3), "ïve");
  EXPECT_EQ(Prefix("ab", 9), "ab");
  EXPECT_EQ(Suffix("ab", 9), "ab");
  EXPECT_EQ(Suffix("", 1), "");
  Random random(5);
  for (int round = 0; round < 500; ++round) {
    const std::string text = MakeText(random, random.Below(60));
    const std::uint64_t all = CodePoints(text);
    const std::uint64_t some = random.Below(all + 1);
    EXPECT_EQ(CodePoints(Prefix(text, some)), some);
    EXPECT_EQ(CodePoints(Suffix(text, some)), some);
    EXPECT_EQ(Prefix(text, some).size() + Suffix(text, all - some).size(), text.size());
  }
}

TEST(Utf8Test, FloorBoundaryIsTheStartOfTheUnitThatHoldsTheByte) {
  Random random(9);
  for (int round = 0; round < 300; ++round) {
    const std::string text = MakeText(random, random.Below(80));
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t start = at;
      Next(text, &at);
      for (std::size_t inside = start; inside < at; ++inside) {
        EXPECT_EQ(FloorBoundary(text, inside), start);
      }
    }
    EXPECT_EQ(FloorBoundary(text, text.size() + 5), text.size());
  }
}

TEST(Utf8Test, NextAndAppendAreInverse) {
  for (char32_t code_point = 0; code_point <= 0x10FFFF; code_point += 37) {
    if (code_point >= 0xD800 && code_point <= 0xDFFF) continue;
    std::string text;
    Append(code_point, &text);
    std::size_t at = 0;
    EXPECT_EQ(Next(text, &at), code_point);
    EXPECT_EQ(at, text.size());
  }
}

TEST(Utf8Test, TerminalControlsAreShownNotSent) {
  EXPECT_EQ(CleanForTerminal("a\x1B[31mb\tc\n\r\u009B"), "a^[[31mb\tc\n^M\\u{9B}");
  EXPECT_EQ(CleanForTerminal("\x7F"), "\\u{7F}");
  EXPECT_EQ(CleanForTerminal("a\u202Eb\u2066\u200B\uFEFF\U000E0063"),
            "a\\u{202E}b\\u{2066}\\u{200B}\\u{FEFF}\\u{E0063}");
  EXPECT_EQ(CleanForTerminal("\u0645\u06CC\u200C\u0631"), "\u0645\u06CC\u200C\u0631") << "Persian";
}

}  // namespace
}  // namespace dossier::utf8
