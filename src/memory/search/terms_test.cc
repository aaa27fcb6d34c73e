#include "memory/search/terms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/fts5_for_test.h"

namespace dossier::memory {
namespace {

// Returns the terms that a store's connection makes.
class TermsTest : public ::testing::Test {
 protected:
  std::vector<std::string> Terms(std::string_view text) { return memory::Terms(connection_, text); }
  std::vector<std::string> QueryTerms(std::string_view query) {
    return memory::QueryTerms(connection_, query);
  }
  void ExpectTheTermsOfFts5(const std::vector<std::string>& texts);

  Connection connection_{*store::Database::Open(":memory:")};
};

void TermsTest::ExpectTheTermsOfFts5(const std::vector<std::string>& texts) {
  Fts5ForTest fts5;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    fts5.Add(static_cast<std::int64_t>(i), IndexText(texts[i]));
  }
  const auto theirs = fts5.Read();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto found = theirs.find(static_cast<std::int64_t>(i));
    const std::vector<std::string> expected =
        found == theirs.end() ? std::vector<std::string>() : found->second;
    ASSERT_EQ(Terms(texts[i]), expected) << texts[i];
    ASSERT_EQ(CountTerms(connection_, texts[i]), expected.size()) << texts[i];
  }
}

using Strings = std::vector<std::string>;

TEST_F(TermsTest, TheExamplesInTheHeaderWork) {
  EXPECT_EQ(Terms("The builds failed."), (Strings{"the", "build", "fail"}));
  EXPECT_EQ(QueryTerms("Why did the builds fail?"), (Strings{"build", "fail"}));
  EXPECT_EQ(IndexText("用GPU計算"), "用 GPU 計算");
}

TEST_F(TermsTest, RunsWithoutBlanksBecomeOverlappingPairs) {  // MEM-37, MEM-T11
  struct Case {
    std::string_view text;
    Strings terms;
  };
  const Case kCases[] = {
      {"東京都庁", {"東京", "京都", "都庁"}},
      {"東", {"東"}},
      {"東京、大阪", {"東京", "大阪"}},
      {"すもももも", {"すも", "もも", "もも", "もも"}},
      {"カタカナと漢字", {"カタ", "タカ", "カナ", "ナと", "と漢", "漢字"}},
      {"서울시", {"서울", "울시"}},
      {"กขค", {"กข", "ขค"}},
      {"ที่นี่", {"ทน"}},  // vowels and tones above the letters are marks
      {"GPU上での計算2回", {"gpu", "上で", "での", "の計", "計算", "2", "回"}},
      {"𠀀𠀁𠀂", {"𠀀𠀁", "𠀁𠀂"}},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Terms(c.text), c.terms) << c.text;
    ExpectTheTermsOfFts5({std::string(c.text)});
  }
}

TEST_F(TermsTest, AccentsAndCaseDoNotCount) {  // MEM-37, MEM-T11
  for (const std::string_view text : {"naïve café", "NAIVE CAFE", "nai\u0308ve cafe\u0301"}) {
    EXPECT_EQ(Terms(text), (Strings{"naiv", "cafe"})) << text;
  }
  EXPECT_EQ(Terms("ΣΊΣΥΦΟΣ Ёлка"), Terms("σίσυφος ёЛКА"));
}

TEST_F(TermsTest, TextsOfAllSortsHaveTheTermsOfFts5) {  // MEM-37
  Random random(/*seed=*/3702);
  Strings texts = {"",
                   " ",
                   std::string("nul\0inside", 10),
                   "x\u0301y\u0308 \u0301z e\u0301\u0323",
                   "half\xff of\xc3",
                   "\xed\xa0\x80surrogate",
                   std::string(40'000, 'x'),
                   "東\u3099京\u0301都 ab\u0301東"};
  for (std::string word; const char c : std::string_view("ÀÉÎõüÇñŠž")) texts.push_back(word += c);
  for (int text = 0; text < 3000; ++text) {
    texts.push_back(random.Utf8(200));
    texts.push_back(random.Bytes(random.Below(60)));
  }
  ExpectTheTermsOfFts5(texts);
}

TEST_F(TermsTest, AQuestionIsItsTermsOnceWithoutStopWords) {  // MEM-38
  struct Case {
    std::string_view query;
    Strings terms;
  };
  const Case kCases[] = {
      {"Why did the linker fail on fftw3?", {"linker", "fail", "fftw3"}},
      {"failed failing fails FAIL", {"fail"}},
      {"a doe does what it did", {"doe"}},
      {"", {}},
      {" ?!", {}},
  };
  for (const Case& c : kCases) EXPECT_EQ(QueryTerms(c.query), c.terms) << c.query;
}

TEST_F(TermsTest, AQuestionOfStopWordsOnlyKeepsThem) {  // MEM-38, MEM-T11
  EXPECT_EQ(QueryTerms("To be or not to be?"), (Strings{"to", "be", "or", "not"}));
  EXPECT_EQ(QueryTerms("what's this"), (Strings{"what", "s", "thi"}));
  const std::string_view kAll =
      "a an the is are was were be been do does did what which who whom when where why how to of "
      "in on at for from by with and or not has have had his her its their they he she it this "
      "that as would will could can s t";
  EXPECT_EQ(QueryTerms(std::string(kAll) + " fftw3"), Strings{"fftw3"});
}

TEST_F(TermsTest, OperatorsAreWordsOrNothing) {  // MEM-38, MEM-T11
  for (const char c : std::string_view("/=:\"*()-^+'?.,{}[]<>|&!~\\;#$%@`")) {
    EXPECT_EQ(QueryTerms(std::string("linker") + c + "fftw3" + c), (Strings{"linker", "fftw3"}))
        << c;
  }
  EXPECT_EQ(QueryTerms("linker NEAR fftw3"), (Strings{"linker", "near", "fftw3"}));
  EXPECT_EQ(QueryTerms("linker AND fftw3 OR NOT x"), (Strings{"linker", "fftw3", "x"}));
}

}  // namespace
}  // namespace dossier::memory
