#include "memory/search/terms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text/utf8.h"
#include "memory/search/unicode61.h"
#include "testing/fts5_for_test.h"

namespace dossier::memory {
namespace {

void ExpectTheTermsOfFts5(const std::vector<std::string>& texts) {
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
    ASSERT_EQ(CountTerms(texts[i]), expected.size()) << texts[i];
  }
}

using Strings = std::vector<std::string>;

TEST(TermsTest, TheExamplesInTheHeaderWork) {
  EXPECT_EQ(Terms("The builds failed."), (Strings{"the", "build", "fail"}));
  EXPECT_EQ(QueryTerms("Why did the builds fail?"), (Strings{"build", "fail"}));
  EXPECT_EQ(IndexText("用GPU計算"), "用 GPU 計算");
}

TEST(TermsTest, RunsWithoutBlanksBecomeOverlappingPairs) {  // MEM-37, MEM-T11
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

TEST(TermsTest, AccentsAndCaseDoNotCount) {  // MEM-37, MEM-T11
  for (const std::string_view text : {"naïve café", "NAIVE CAFE", "nai\u0308ve cafe\u0301"}) {
    EXPECT_EQ(Terms(text), (Strings{"naiv", "cafe"})) << text;
  }
  EXPECT_EQ(Terms("ΣΊΣΥΦΟΣ Ёлка"), Terms("σίσυφος ёЛКА"));
}

// `code_point` inside a word, and alone; "end" behind each.
std::string Probe(char32_t code_point) {
  std::string text;
  utf8::Append(code_point, &text);
  return "q" + text + "q end " + text + " end ";
}

// The words of that, folded, as the tables have them.
Strings ProbeWords(char32_t code_point) {
  std::string folded;
  if (FoldCodePoint(code_point) != 0) utf8::Append(FoldCodePoint(code_point), &folded);
  if (IsWordCodePoint(code_point)) return {"q" + folded + "q", "end", folded, "end"};
  if (IsDiacritic(code_point)) return {"q" + folded + "q", "end", "end"};
  return {"q", "q", "end", "end"};
}

// The next code point to look at: all where scripts and marks are, some of the empty planes.
char32_t NextProbe(char32_t c) {
  if (c == 0xd7ff) return 0xe000;  // no surrogates
  const bool inhabited = c < 0x20000 || (c >= 0xe0000 && c < 0xe0200);
  return c + (inhabited ? 1 : 31);
}

TEST(TermsTest, EveryCodePointIsTakenAsFts5TakesIt) {  // MEM-37
  constexpr char32_t kEnd = 0x110000, kBlock = 256;
  Fts5ForTest fts5("unicode61 remove_diacritics 2");
  std::map<std::int64_t, std::string> texts;
  std::map<std::int64_t, Strings> expected;
  for (char32_t c = 1; c < kEnd; c = NextProbe(c)) {
    for (std::string& word : ProbeWords(c)) expected[c / kBlock].push_back(std::move(word));
    texts[c / kBlock] += Probe(c);
  }
  for (const auto& [block, text] : texts) fts5.Add(block, text);
  const auto terms = fts5.Read();
  for (const auto& [block, words] : expected) {
    ASSERT_EQ(terms.at(block), words) << "code points from " << block * kBlock;
  }
}

// Words that the rules of the stemmer are about, and nearly about.
std::string SuffixedWord(Random& random) {
  constexpr std::string_view kSuffixes[] = {
      "s",       "es",      "sses",    "ies",     "ss",     "eed",     "ed",    "ing",   "at",
      "bl",      "iz",      "y",       "ational", "tional", "enci",    "anci",  "izer",  "logi",
      "bli",     "alli",    "entli",   "eli",     "ousli",  "ization", "ation", "ator",  "alism",
      "iveness", "fulness", "ousness", "aliti",   "iviti",  "biliti",  "icate", "ative", "alize",
      "iciti",   "ical",    "ful",     "ness",    "al",     "ance",    "ence",  "er",    "ic",
      "able",    "ible",    "ant",     "ement",   "ment",   "ent",     "ion",   "sion",  "tion",
      "ou",      "ism",     "ate",     "iti",     "ous",    "ive",     "ize",   "e",     "ll",
      "lle",     "bb",      "ly",      "ably",    "fully",  "é",       "ж"};
  constexpr std::string_view kLetters = "aeiouybcdlstwxz";
  std::string word;
  const bool long_one = random.Below(50) == 0;  // about the longest that is stemmed
  for (std::uint64_t i = random.Below(6) + (long_one ? 55 : 0); i > 0; --i) {
    word.push_back(kLetters[random.Below(kLetters.size())]);
  }
  for (std::uint64_t i = random.Below(4); i > 0; --i) {
    word += kSuffixes[random.Below(std::size(kSuffixes))];
  }
  return word;
}

TEST(TermsTest, WordsAreStemmedAsFts5StemsThem) {  // MEM-37
  Random random(/*seed=*/3701);
  Strings texts;
  for (int text = 0; text < 1500; ++text) {
    std::string& words = texts.emplace_back();
    for (int word = 0; word < 50; ++word) words += SuffixedWord(random) + " ";
  }
  ExpectTheTermsOfFts5(texts);
}

TEST(TermsTest, TextsOfAllSortsHaveTheTermsOfFts5) {  // MEM-37
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

TEST(TermsTest, AQuestionIsItsTermsOnceWithoutStopWords) {  // MEM-38
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

TEST(TermsTest, AQuestionOfStopWordsOnlyKeepsThem) {  // MEM-38, MEM-T11
  EXPECT_EQ(QueryTerms("To be or not to be?"), (Strings{"to", "be", "or", "not"}));
  EXPECT_EQ(QueryTerms("what's this"), (Strings{"what", "s", "thi"}));
  const std::string_view kAll =
      "a an the is are was were be been do does did what which who whom when where why how to of "
      "in on at for from by with and or not has have had his her its their they he she it this "
      "that as would will could can s t";
  EXPECT_EQ(QueryTerms(std::string(kAll) + " fftw3"), Strings{"fftw3"});
}

TEST(TermsTest, OperatorsAreWordsOrNothing) {  // MEM-38, MEM-T11
  for (const char c : std::string_view("/=:\"*()-^+'?.,{}[]<>|&!~\\;#$%@`")) {
    EXPECT_EQ(QueryTerms(std::string("linker") + c + "fftw3" + c), (Strings{"linker", "fftw3"}))
        << c;
  }
  EXPECT_EQ(QueryTerms("linker NEAR fftw3"), (Strings{"linker", "near", "fftw3"}));
  EXPECT_EQ(QueryTerms("linker AND fftw3 OR NOT x"), (Strings{"linker", "fftw3", "x"}));
}

}  // namespace
}  // namespace dossier::memory
