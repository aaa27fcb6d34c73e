#include "research/paper/bibtex.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace dossier::research {
namespace {

TEST(BibtexTest, ReadsTheFormsThatPeopleWrite) {  // RSP-42
  const std::vector<BibEntry> entries = ParseBibtex(R"(
A line outside is a comment.
@comment{@article{no, title={x}}}
@string(jan = "January")
@Article{knuth:84,
  Title = {The {\TeX}book and {B}races},
  author = "Donald {\"E}. Knuth",
  year = 1984, month = jan # " 4",
}
@inproceedings(two, title={A
   second   one}, year="2001")
@book{broken, title={never ends,
@misc{three, title={Third}, year=2003}
@book{cut, title={off
)");
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[2].key, "three");
  EXPECT_EQ(entries[0].type, "article");
  EXPECT_EQ(entries[0].key, "knuth:84");
  EXPECT_EQ(entries[0].Field("title"), R"(The {\TeX}book and {B}races)");
  EXPECT_EQ(entries[0].Field("author"), R"(Donald {\"E}. Knuth)");
  EXPECT_EQ(entries[0].Field("year"), "1984");
  EXPECT_EQ(entries[0].Field("month"), "January 4");
  EXPECT_EQ(entries[1].Field("title"), "A second one");
}

TEST(BibtexTest, AnEntryAfterABrokenOneIsFound) {
  const auto entries = ParseBibtex("@a{x, title {no}} @b{y, title={T}, year=2}");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].key, "y");
}

TEST(BibtexTest, OnlyEntriesWithTitleYearAndKeyAreCitable) {  // RSP-42
  struct Case {
    std::string_view text;
    bool citable;
  };
  constexpr Case kCases[] = {
      {"@article{k, title={T}, year=2020}", true},
      {"@article{k, title={T}}", false},
      {"@article{k, year=2020}", false},
      {"@article{k, title={ }, year=2020}", false},
      {"@article{sp~ce, title={T}, year=2020}", false},
      {"@article{a;b, title={T}, year=2020}", false},
      {"@1$2{k, title={T}, year=2020}", false},
  };
  for (const Case& c : kCases) {
    const auto entries = ParseBibtex(c.text);
    ASSERT_EQ(entries.size(), 1U) << c.text;
    EXPECT_EQ(IsCitable(entries[0]), c.citable) << c.text;
  }
}

TEST(BibtexTest, AValueCannotEndItsEntry) {
  const BibEntry evil{.type = "misc", .key = "k", .fields = {{"title", "}} @misc{x, y={"}}};
  const auto again = ParseBibtex(BibtexText({evil}));
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].Field("title"), "@miscx, y=");
}

TEST(BibtexTest, WhatIsWrittenIsReadAgain) {
  Random random(/*seed=*/11);
  for (int round = 0; round < 500; ++round) {
    const BibEntry entry{.type = "misc",
                         .key = "k",
                         .fields = {{"title", random.Utf8(60)}, {"year", random.Utf8(10)}}};
    const std::string text = BibtexText({entry});
    const auto again = ParseBibtex(text);
    ASSERT_EQ(again.size(), 1U) << text;
    EXPECT_EQ(BibtexText(again), text);
  }
}

}  // namespace
}  // namespace dossier::research
