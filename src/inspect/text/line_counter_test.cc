#include <gtest/gtest.h>

#include "base/random.h"
#include "inspect/text/text_counter.h"

namespace dossier::inspect {
namespace {

TEST(LineCounterTest, LinesEndWithLfCrlfOrALoneCr) {  // INS-2, INS-3
  struct Case {
    std::string_view text;
    std::uint64_t lines, blank, longest, lf, crlf, cr;
  };
  constexpr Case kCases[] = {
      {"", 0, 0, 0, 0, 0, 0},
      {"a\nb", 2, 0, 1, 1, 0, 0},
      {"a\nb\n", 2, 0, 1, 2, 0, 0},
      {"a\r\nb\r\n", 2, 0, 1, 0, 2, 0},
      {"a\rb", 2, 0, 1, 0, 0, 1},
      {"\n", 1, 1, 0, 1, 0, 0},
      {"\n\n", 2, 2, 0, 2, 0, 0},
      {"a\n\r", 2, 1, 1, 1, 0, 1},
      {"\r\n", 1, 1, 0, 0, 1, 0},
      {"\r\r\n", 2, 2, 0, 0, 1, 1},
      {" \t\nab \n  ", 3, 2, 3, 2, 0, 0},
      {"a\u0085b\u2028c\u2029d\ve\f", 1, 0, 15, 0, 0, 0},
  };
  for (const Case& c : kCases) {
    const LineSummary summary = SummarizeLines(c.text);
    EXPECT_EQ(summary.lines(), c.lines) << ::testing::PrintToString(c.text);
    EXPECT_EQ(summary.blank_lines(), c.blank) << ::testing::PrintToString(c.text);
    EXPECT_EQ(summary.longest_line_bytes(), c.longest) << ::testing::PrintToString(c.text);
    EXPECT_EQ(summary.lf, c.lf);
    EXPECT_EQ(summary.crlf, c.crlf);
    EXPECT_EQ(summary.lone_cr(), c.cr);
  }
}

std::string MakeText(Random& random, std::size_t bytes) {
  const std::string_view alphabets[] = {"\n\r ax", "abcdefghijklmnop \n", "\r\n", " \t\n",
                                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n\r"};
  const std::string_view alphabet = alphabets[random.Below(std::size(alphabets))];
  std::string text;
  while (text.size() < bytes) {
    text += random.Below(50) == 0 ? '\0' : alphabet[random.Below(alphabet.size())];
  }
  return text;
}

TEST(LineCounterTest, AnySplitOfATextGivesTheSameSummary) {  // INS-6, INS-12
  Random random(29);
  for (int round = 0; round < 3000; ++round) {
    const std::string text = MakeText(random, random.Below(400));
    const LineSummary whole = SummarizeLines(text);
    LineSummary joined;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = 1 + random.Below(random.Below(2) == 0 ? 3 : 130);
      joined.Append(SummarizeLines(std::string_view(text).substr(at, length)));
      at += length;
    }
    ASSERT_EQ(joined, whole) << ::testing::PrintToString(text);
  }
}

TEST(LineCounterTest, JoiningIsAssociative) {
  Random random(31);
  for (int round = 0; round < 1000; ++round) {
    const LineSummary a = SummarizeLines(MakeText(random, random.Below(4)));
    const LineSummary b = SummarizeLines(MakeText(random, random.Below(4)));
    const LineSummary c = SummarizeLines(MakeText(random, random.Below(4)));
    LineSummary left = a, right = b;
    left.Append(b);
    left.Append(c);
    right.Append(c);
    LineSummary other = a;
    other.Append(right);
    ASSERT_EQ(left, other);
  }
}

}  // namespace
}  // namespace dossier::inspect
