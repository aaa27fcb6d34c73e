#include "research/paper/citations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "research/paper/literature.h"
#include "testing/research_rig_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kBib = R"(
@article{hoare62, title={Quicksort}, author={C. A. R. Hoare}, year=1962}
@article{noyear, title={Quicksort again}}
@article{other, title={Fast Fourier transforms}, year=1965}
)";

class CitationsTest : public ::testing::Test {
 protected:
  CitationsTest() { rig_.Write("mine.bib", kBib); }
  Citations Make() {
    auto found = GatherCitations(rig_.services, rig_.results, {});
    EXPECT_THAT(found, Succeeds());
    return found ? *found : Citations();
  }
  static std::vector<std::string> Keys(const Citations& found) {
    std::vector<std::string> keys;
    for (const BibEntry& entry : found.entries) keys.push_back(entry.key);
    return keys;
  }
  ResearchRig rig_;
};

TEST_F(CitationsTest, WithoutASourceTheyAreSkippedAndTheFileIsEmpty) {  // RSP-42
  const Citations found = Make();
  EXPECT_THAT(found.entries, IsEmpty());
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("citations.bibtex")));
  EXPECT_EQ(rig_.Read("paper/references.bib"), "");
  EXPECT_THAT(rig_.caller.requests, IsEmpty());
}

TEST_F(CitationsTest, WhatIsChosenOfAFileIsAddedOnlyWithTitleYearAndKey) {  // RSP-42
  rig_.config.citation_bibtex = rig_.folder() + "/mine.bib";
  rig_.caller.Reply("citations", R"({"Query":"quicksort"})");
  rig_.caller.Reply("citation_choice",
                    R"({"Selected":[0,1,7,"hoare62",-1],"Description":"the method"})");
  rig_.caller.Reply("citations", R"({"Query":""})");
  const Citations found = Make();
  EXPECT_THAT(Keys(found), ElementsAre("hoare62"));
  EXPECT_THAT(rig_.Read("paper/references.bib"), HasSubstr("@article{hoare62,"));
  const OwnSection* results = rig_.caller.Section("citation_choice", "results");
  ASSERT_NE(results, nullptr);
  EXPECT_EQ(results->value.as_array().size(), 1U);  // the entry without a year is no result
}

TEST_F(CitationsTest, AQueryThatWasAskedBeforeAndTheLimitOfRoundsAreTheEnd) {  // RSP-42
  rig_.config.citation_bibtex = rig_.folder() + "/mine.bib";
  rig_.config.citation_rounds = 3;
  for (int i = 0; i < 9; ++i)
    rig_.caller.Reply("citations", fmt::format(R"({{"Query":"q{}"}})", i));
  Make();
  EXPECT_EQ(rig_.caller.Count("citations"), 3U);
  rig_.caller.requests.clear();
  for (int i = 0; i < 9; ++i) rig_.caller.Reply("citations_2", R"({"Query":"Q3"})");
  Make();
  EXPECT_EQ(rig_.caller.Count("citations"), 2U);
}

TEST_F(CitationsTest, OfflineIsSaidAndIsNoError) {  // RSP-42
  rig_.config.citation_search_url = "https://example.org/search?q={query}";
  rig_.caller.Reply("citations", R"({"Query":"sorting"})");
  EXPECT_THAT(Make().warnings, ElementsAre(HasSubstr("there is no network")));
}

TEST_F(CitationsTest, AnAnswerOfAnotherFormIsAWarning) {  // RSP-6
  rig_.config.citation_search_url = "https://example.org/search?q=";
  for (const std::string_view answer : {"<html>a@b.org</html>", R"({"error":"quota"})"}) {
    rig_.services.fetch = [&](const std::string&, const CancelToken&) -> Result<std::string> {
      return std::string(answer);
    };
    rig_.caller.Reply("citations", R"({"Query":"sorting"})");
    EXPECT_THAT(Make().warnings, ElementsAre(HasSubstr("neither BibTeX nor JSON"))) << answer;
  }
}

TEST_F(CitationsTest, AnAnswerOfASearchIsKeptSoThatAResumedRunSeesTheSame) {  // RSP-42, RSP-48
  rig_.config.citation_search_url = "https://example.org/search?q={query}";
  std::vector<std::string> urls;
  rig_.services.fetch = [&](const std::string& url, const CancelToken&) -> Result<std::string> {
    urls.push_back(url);
    return std::string(R"({"data":[{"title":"Sorting in C","year":2001,"venue":"J. Sort",
        "authors":[{"name":"Ann Mei"}],"abstract":"50%\\n of } C#  & more."},{"title":"No year"}]})");
  };
  std::vector<std::string> shown;
  for (int run = 0; run < 2; ++run) {
    rig_.caller.Reply("citations", R"({"Query":"sort ä"})");
    rig_.caller.Reply("citation_choice", R"({"Selected":[0]})");
    rig_.caller.Reply("citations", R"({"Query":""})");
    EXPECT_THAT(Keys(Make()), ElementsAre("mei2001sorting"));
    shown.push_back(ToJson(rig_.caller.Section("citation_choice", "results")->value));
  }
  EXPECT_EQ(shown[0], shown[1]);  // byte for byte
  EXPECT_THAT(urls, ElementsAre("https://example.org/search?q=sort%20%C3%A4"));
}

TEST(LiteratureTest, TextOfASearchBecomesLatexThatMeansTheSame) {  // RSP-42
  const auto entries = ReadSearchReply(
      R"({"data":[{"title":"C# & 50% of_all","year":2001,"authors":[{"name":"A. B"}]}]})");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_THAT(BibtexText(entries), HasSubstr(R"(title = {C\# \& 50\% of\_all})"));
}

TEST(LiteratureTest, AnEntryBringsNoCommandThatAPaperMayNotHave) {  // RSP-42, RSP-43
  for (const std::string_view title :
       {R"(\input{/etc/passwd})", R"(\immediate\write18{id})", R"(\csname input\endcsname x)",
        R"(^^5cinput x)", R"(\openin5=x)"}) {
    const std::string bibtex =
        BibtexText(ParseBibtex(fmt::format("@misc{{k, title={{A {} b}}, year={{1999}}}}", title)));
    EXPECT_THAT(bibtex, ::testing::Not(HasSubstr("\\"))) << title;
    EXPECT_THAT(bibtex, ::testing::Not(HasSubstr("^^"))) << title;
  }
  // Accents and mathematics are kept.
  const std::string kept = R"(P\'olya {\"u} $O(n \log n)$ \& \emph{more})";
  EXPECT_THAT(BibtexText(ParseBibtex("@misc{k, title={" + kept + "}, year={1999}}")),
              HasSubstr(kept));
}

TEST(LiteratureTest, EntriesThatShareMostWordsComeFirst) {
  const auto best = BestMatches(ParseBibtex(kBib), "fast quicksort transforms");
  ASSERT_EQ(best.size(), 3U);
  EXPECT_EQ(best[0].key, "other");
  EXPECT_THAT(BestMatches(ParseBibtex(kBib), "zebra"), IsEmpty());
}

TEST(LiteratureTest, ASearchMayAnswerInBibtexInJsonOrInNothingKnown) {
  EXPECT_EQ(ReadSearchReply(kBib).size(), 3U);
  EXPECT_EQ(ReadSearchReply(R"({"data":[{"title":"T","citationStyles":
      {"bibtex":"@misc{k, title={T}, year={1999}}"}}]})")[0]
                .key,
            "k");
  for (const std::string_view reply : {"", "<html>", "[1]", R"({"data":7})", R"({"data":[3]})"}) {
    for (const BibEntry& entry : ReadSearchReply(reply)) EXPECT_FALSE(IsCitable(entry)) << reply;
  }
}

}  // namespace
}  // namespace dossier::research
