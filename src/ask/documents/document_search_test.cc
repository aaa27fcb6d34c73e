#include "ask/documents/document_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ask/documents/document_words.h"
#include "ask/documents/served_document.h"
#include "base/random.h"
#include "base/text/utf8.h"
#include "inspect/text/record_lines.h"
#include "testing/result_matchers.h"

namespace dossier::ask {
namespace {

std::string_view TextOf(const std::vector<TextDocument>& documents, const Passage& passage) {
  return documents[passage.document].text.substr(passage.at, passage.length);
}

TextDocument Plain(std::string_view text) {
  return {.name = "a.txt", .text = text, .description = {}};
}

TEST(WordsTest, CaseAndPluralDoNotMatter) {
  for (const auto& [a, b] :
       {std::pair("Gates", "gate"), std::pair("ÉCOLE", "école"), std::pair("МОСКВА", "москва"),
        std::pair("ΛΟΓΟΣ", "λογοσ"), std::pair(" x-", "X")}) {
    EXPECT_EQ(WordHash(a), WordHash(b)) << a;
  }
  for (const auto& [a, b] : {std::pair("glass", "glas"), std::pair("bus", "bu"),
                             std::pair("status", "statu"), std::pair("a", "b")}) {
    EXPECT_NE(WordHash(a), WordHash(b)) << a;
  }
  int words = 0;
  WordReader reader("東京 is “big”, user_id=7…");
  for (std::uint64_t word; reader.Next(&word);) ++words;
  EXPECT_EQ(words, 7);  // 東 京 is big user id 7
}

TEST(WordsTest, AnyBytesAreRead) {
  Random random(/*seed=*/1);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random.Bytes(random.Below(30));
    WordReader reader(text);
    std::size_t words = 0;
    for (std::uint64_t word; reader.Next(&word);) ++words;
    EXPECT_LE(words, text.size());
  }
}

TEST(SearchTest, TheParagraphWithTheRarestWordsComesFirst) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += fmt::format("The gate {} was open all day.\n\n", i);
  text += "Inspector Maigret closed the gate\nat noon.\n\n";
  for (int i = 0; i < 200; ++i) text += fmt::format("The gate {} was closed again.\n\n", i);
  const std::vector<TextDocument> documents = {Plain("nothing here"), Plain(text)};
  const auto found = SearchPassages(documents, "When did Maigret close the gates?", 3, {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ(TextOf(documents, (*found)[0]), "Inspector Maigret closed the gate\nat noon.");
  EXPECT_GT((*found)[0].score, (*found)[1].score);
}

TEST(SearchTest, RecordsArePassages) {
  TextDocument log =
      Plain("15:30:00 INFO up\n15:30:01 ERROR disk\n  at write()\n15:30:02 INFO x\n");
  log.description.format = inspect::Format::kLog;
  log.description.log_shape = "timestamp-level";
  const std::vector<TextDocument> documents = {log};
  const auto found = SearchPassages(documents, "write", 10, {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(TextOf(documents, (*found)[0]), "15:30:01 ERROR disk\n  at write()");
}

TEST(SearchTest, ALongPassageIsCutBetweenWords) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += i == 2501 ? "needle " : "wörter ";
  const std::vector<TextDocument> documents = {Plain(text)};
  const auto found = SearchPassages(documents, "needle", 10, {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1u);
  EXPECT_LE((*found)[0].length, 2000u);
  EXPECT_TRUE(TextOf(documents, (*found)[0]).starts_with("wörter "));
  EXPECT_TRUE(utf8::IsValid(TextOf(documents, (*found)[0])));
}

TEST(SearchTest, MorePassagesThanAreKeptAreReadAgain) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "dog\n\n";
  text += "dog cat\n";
  const std::vector<TextDocument> documents = {Plain(text)};
  const auto found = SearchPassages(documents, "dog cat", 1, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(TextOf(documents, found->front()), "dog cat");
}

TEST(FindPassagesTest, FillsItsBudgetWithoutRepeats) {
  const std::vector<TextDocument> documents = {
      Plain("The café is red.\n\nThe café is red.\n\nA café on the corner of the street.\n\nNo."),
      Plain("Where is it?\n\nThe street.")};
  const auto found = FindPassages(documents, "Where is the café?", 1000);
  ASSERT_EQ(found.size(), 4u) << "the same text is there once";
  EXPECT_EQ(TextOf(documents, found[0]), "Where is it?") << "two words that few passages have";
  EXPECT_EQ(TextOf(documents, found[1]), "The café is red.");
  EXPECT_EQ(FindPassages(documents, "Where is the café?", 20).size(), 1u);
  const auto start = FindPassages(documents, "Where is the café?", 8);
  ASSERT_EQ(start.size(), 1u);
  EXPECT_EQ(TextOf(documents, start[0]), "Where is") << "of the best one at least its start";
  EXPECT_TRUE(FindPassages(documents, "Where is the one?", 0).empty());
  EXPECT_TRUE(FindPassages(documents, "Nobody knew", 1000).empty());
  EXPECT_TRUE(FindPassages({}, "café", 1000).empty());
}

TEST(FindPassagesTest, AnyTextAndQuestionStayWithinTheBudget) {
  Random random(/*seed=*/17);
  for (int round = 0; round < 300; ++round) {
    const std::string text = random.Utf8(3000) + "\n\nword\n" + random.Utf8(500);
    const std::vector<TextDocument> documents = {Plain(text)};
    const std::size_t budget = random.Below(300);
    std::uint64_t chars = 0;
    for (const Passage& passage : FindPassages(documents, "word " + random.Utf8(40), budget)) {
      ASSERT_LE(passage.at + passage.length, text.size());
      chars += utf8::CodePoints(TextOf(documents, passage));
    }
    EXPECT_LE(chars, budget);
  }
}

}  // namespace

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
