#include "ask/documents/document_search.h"

#include <gtest/gtest.h>

#include "ask/documents/document_words.h"
#include "base/random.h"
#include "base/text/utf8.h"

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
}  // namespace dossier::ask
