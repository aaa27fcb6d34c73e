#include "ask/documents/document_grep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ask/documents/document_positions.h"
#include "base/random.h"
#include "inspect/text/record_lines.h"
#include "testing/result_matchers.h"

namespace dossier::ask {
namespace {

std::vector<std::string> Found(std::string_view text, std::string_view pattern,
                               GrepOptions options = {.each = GrepOptions::Each::kMatch}) {
  std::vector<std::string> out;
  const auto result = Grep(text, pattern, options, {});
  EXPECT_TRUE(result) << result.error().message;
  for (const GrepMatch& match : result->matches) {
    out.emplace_back(text.substr(match.at, match.length));
  }
  EXPECT_EQ(result->total, out.size());
  return out;
}

TEST(GrepTest, MatchesStayInsideTheirLines) {  // SBX-31
  using ::testing::ElementsAre;
  EXPECT_THAT(Found("ab\nab\n", "a.*"), ElementsAre("ab", "ab"));
  EXPECT_THAT(Found("ab\nab\n", "(?s)a.*"), ElementsAre("ab", "ab"));
  EXPECT_THAT(Found("ab\ncd\n", "b\\sc|b[^x]c"), ElementsAre());
  EXPECT_THAT(Found("ab\r\nab\rab", "^ab$"), ElementsAre("ab", "ab", "ab"));
  EXPECT_THAT(Found("ab\r\ncd", "b.*"), ElementsAre("b"));
  EXPECT_THAT(Found("a b a", "a"), ElementsAre("a", "a"));
  EXPECT_THAT(Found("a b a\na", "a", {}), ElementsAre("a", "a"));
  EXPECT_THAT(Found("É\né", "é", {.letter_case = GrepOptions::Case::kIgnore}),
              ElementsAre("É", "é"));
  EXPECT_THAT(Found("", "^"), ElementsAre());
}

TEST(GrepTest, AnEmptyMatchCountsOnceALine) {
  EXPECT_EQ(Found("a\n\nb\n\n", "^$").size(), 2u);
  EXPECT_EQ(Found("a\r\n\r\nb\r\n", "^$").size(), 1u);
  EXPECT_EQ(Found("abc\nabc", "x*").size(), 2u);
  EXPECT_EQ(Found("xx\nxx", "x*").size(), 2u);
}

TEST(GrepTest, LinesAndContextAreThoseOfTheText) {
  const std::string_view text = "one\ntwo\r\nthree\nfour\n";
  const auto result = Grep(text, "two|three", {.context = 1}, {});
  ASSERT_TRUE(result);
  ASSERT_EQ(result->matches.size(), 2u);
  const GrepMatch& two = result->matches[0];
  EXPECT_EQ(two.line, 2u);
  EXPECT_EQ(text.substr(two.line_at, two.line_length), "two");
  EXPECT_EQ(text.substr(two.context_at, two.context_length), "one\ntwo\r\nthree");
  const GrepMatch& three = result->matches[1];
  EXPECT_EQ(three.line, 3u);
  EXPECT_EQ(text.substr(three.context_at, three.context_length), "two\r\nthree\nfour");
}

TEST(GrepTest, ALargeTextGivesWhatALineByLineSearchGives) {  // SBX-31
  Random random(/*seed=*/31);
  std::string text;
  while (text.size() < (3u << 20)) {
    text.append(random.Below(60), 'x');
    if (random.Below(3) == 0) text += "needle";
    text += random.Below(500) == 0 ? "\r\n" : "\n";
  }
  const auto result = Grep(text, "needle$", {.max = 1'000'000, .context = 2}, {});
  ASSERT_TRUE(result);
  const LineIndex lines(text);
  std::size_t next = 0;
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const inspect::Line line = inspect::NextLine(text, at);
    if (line.text.ends_with("needle")) {
      ASSERT_LT(next, result->matches.size());
      const GrepMatch& match = result->matches[next++];
      ASSERT_EQ(match.at + match.length, at + line.text.size());
      ASSERT_EQ(match.line, number + 1);
      ASSERT_EQ(match.line_at, at);
      ASSERT_EQ(match.line_length, line.text.size());
      ASSERT_EQ(match.context_at, lines.Start(number < 2 ? 0 : number - 2));
    }
    at = line.next;
  }
  EXPECT_EQ(next, result->matches.size());
  EXPECT_EQ(result->total, next);
}

TEST(PositionsTest, LinesAndCharactersAreFoundFromTheirNumbers) {
  Random random(/*seed=*/30);
  std::string text;
  while (text.size() < 300'000) {
    text += random.Utf8(40);
    if (random.Below(4) == 0) text += "\r\n";
  }
  std::vector<std::uint64_t> line_starts, characters;
  for (std::size_t at = 0; at < text.size(); at = inspect::NextLine(text, at).next) {
    line_starts.push_back(at);
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((text[at] & 0xC0) != 0x80) characters.push_back(at);
  }
  const LineIndex lines(text);
  const CharacterIndex index(text);
  ASSERT_EQ(lines.count(), line_starts.size());
  ASSERT_EQ(index.count(), characters.size());
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t line = random.Below(line_starts.size());
    EXPECT_EQ(lines.Start(line), line_starts[line]);
    const std::uint64_t character = random.Below(characters.size());
    EXPECT_EQ(index.ToByte(character), characters[character]);
    EXPECT_EQ(index.ToCharacter(characters[character]), character);
    const std::uint64_t byte = random.Below(text.size());
    const auto after = std::upper_bound(line_starts.begin(), line_starts.end(), byte);
    EXPECT_EQ(lines.LineAt(byte), static_cast<std::uint64_t>(after - line_starts.begin() - 1));
    EXPECT_LE(index.ToByte(index.ToCharacter(byte)), byte);
  }
  EXPECT_EQ(lines.Start(line_starts.size()), text.size());
  EXPECT_EQ(index.ToByte(characters.size()), text.size());
  EXPECT_EQ(index.ToCharacter(text.size()), characters.size());
  EXPECT_EQ(LineIndex("").count(), 0u);
  EXPECT_EQ(LineIndex("").LineAt(0), 0u);
  EXPECT_EQ(CharacterIndex("").ToByte(0), 0u);
}

}  // namespace
}  // namespace dossier::ask
