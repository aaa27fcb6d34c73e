#include "tokens/encode/bpe_counter.h"

#include <gtest/gtest.h>

#include <charconv>

#include "base/files/file.h"
#include "base/random.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "testing/result_matchers.h"
#include "tokens/files/open.h"
#include "tokens/files/vocabulary_files.h"

namespace dossier::tokens {
namespace {

using ::dossier::testing::FailsWith;

// The tables that the build made; empty where there was no rank file.
DataPaths Built() {
  return {.tables = std::string(DOSSIER_BIN_DIR) + "/../share/dossier", .cache = ""};
}

std::shared_ptr<const Counter> Exact(std::string_view name) {
  const auto opened = Open(name, Built());
  EXPECT_TRUE(opened);
  return opened->counter->exact() ? opened->counter : nullptr;
}

std::string Repeat(std::string_view text, std::size_t times) {
  std::string out;
  for (; times > 0; --times) out += text;
  return out;
}

class PublicEncodingTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    counter_ = Exact(GetParam());
    if (!counter_)
      GTEST_SKIP() << "no table of " << GetParam() << ": scripts/setup fetches its source";
  }
  std::int64_t Tokens(std::string_view text) const { return counter_->CountText(text).tokens; }
  // Prose, code and odd code points, so that all rules and both kinds of merging take part.
  std::string MixedText(Random& random, std::size_t parts) const;

  std::shared_ptr<const Counter> counter_;
};

std::string PublicEncodingTest::MixedText(Random& random, std::size_t parts) const {
  constexpr std::string_view kParts[] = {"The quick brown fox jumps",
                                         " over it's lazy dogs.",
                                         "\n\n    if (x == 0) {\n",
                                         "don't DON'T",
                                         "   ",
                                         "\r\n",
                                         "国際化と地域化は別のものです",
                                         "naïve café",
                                         "1234567890",
                                         "🌍👩‍👩‍👧‍👦",
                                         "=-=-=-=-=-=-",
                                         "internationalisation",
                                         "aaaaaaaaaaaaaaaaaaaa",
                                         "ПРИВЕТ мир",
                                         "\t\t\t",
                                         "e\u0301",
                                         "xYzZyX",
                                         "'ſ"};
  std::string text;
  for (; parts > 0; --parts) {
    text += random.Below(6) == 0 ? random.Utf8(24)
                                 : std::string(kParts[random.Below(std::size(kParts))]);
  }
  return text;
}

TEST_P(PublicEncodingTest, CountsTheTableOfTheSpec) {  // ASM-56
  struct Case {
    std::string text;
    std::int64_t cl100k, o200k;
  };
  const Case cases[] = {
      {"", 0, 0},
      {"hello world", 2, 2},
      {"Hello, World! How are you today? 🌍", 12, 11},
      {"naïve café", 4, 4},
      {"1234567890", 4, 4},
      {"こんにちは、世界", 5, 3},
      {"👩‍👩‍👧‍👦", 18, 11},
      {"<|endoftext|>", 7, 7},  // ASM-57
      {"don't DON'T", 4, 2},
      {"ПРИВЕТ мир", 8, 5},
      {"foo\r\nbar\r\n", 4, 4},
      {R"({"a":1,"b":[true,null]})", 10, 10},
      {std::string(1000, 'a'), 125, 125},
      {std::string(1000, ' '), 9, 9},
      {std::string(1000, '\n'), 32, 63},
      {"\uFFFD", 1, 1},
      {"\xFF", 1, 1},  // ASM-57
      {"e\u0301", 2, 2},
      {"line one\n", 3, 3},
      {"\nline two", 3, 3},
      {"line one\n\nline two", 5, 5},  // ASM-59
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Tokens(c.text), GetParam() == "cl100k_base" ? c.cl100k : c.o200k)
        << c.text.substr(0, 40);
    EXPECT_EQ(counter_->Encode(c.text)->size(), static_cast<std::size_t>(Tokens(c.text)));
  }
  const std::vector<TokenId> hello = GetParam() == "cl100k_base"
                                         ? std::vector<TokenId>{15339, 1917}
                                         : std::vector<TokenId>{24912, 2375};
  EXPECT_EQ(*counter_->Encode("hello world"), hello);
}

TEST_P(PublicEncodingTest, EncodesAllOfTheTestPlans) {  // ASM-T5
  const std::string path = std::string(DOSSIER_SOURCE_DIR) + "/.cache/ranks/TestPlans.txt";
  const auto plans = ReadFile(path);
  if (!plans) GTEST_SKIP() << "no TestPlans.txt: scripts/setup fetches it where npm is installed";
  std::size_t checked = 0;
  std::string_view rest = *plans;
  const std::string head = "EncodingName: " + GetParam() + "\nSample: ";
  for (std::size_t at; (at = rest.find(head)) != std::string_view::npos; ++checked) {
    rest.remove_prefix(at + head.size());
    const std::size_t sample_end = rest.find("\nEncoded: [");
    ASSERT_NE(sample_end, std::string_view::npos);
    const std::string_view sample = rest.substr(0, sample_end);
    const std::string_view list =
        rest.substr(sample_end + 11, rest.find(']', sample_end) - sample_end - 11);
    std::vector<TokenId> wanted;
    for (const std::string_view number :
         list.empty() ? std::vector<std::string_view>{} : Split(list, ',')) {
      const std::string_view digits = TrimSpace(number);
      TokenId id = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), id);
      wanted.push_back(id);
    }
    EXPECT_EQ(*counter_->Encode(sample), wanted) << sample;
    EXPECT_EQ(Tokens(sample), static_cast<std::int64_t>(wanted.size()));
  }
  EXPECT_GT(checked, 10u);
}

TEST_P(PublicEncodingTest, OneMillionLettersAreCounted) {  // ASM-58
  EXPECT_EQ(Tokens(std::string(1'000'000, 'a')), 125'000);
  EXPECT_EQ(Tokens(Repeat("ab", 500'000)) % 125'000, 0);
}

TEST_P(PublicEncodingTest, RunningEqualsTheCountOfTheWhole) {  // ASM-59
  Random random(/*seed=*/21);
  for (int round = 0; round < 60; ++round) {
    const std::string text = MixedText(random, 40);
    auto running = counter_->Start();
    Running::Mark mark;
    std::size_t marked = 0;
    for (std::size_t at = 0; at < text.size();) {
      // Anywhere, inside code points too.
      const std::size_t step = std::min<std::size_t>(1 + random.Below(30), text.size() - at);
      running->Append(std::string_view(text).substr(at, step));
      at += step;
      const std::string_view head = std::string_view(text).substr(0, at);
      ASSERT_EQ(running->Total().tokens, Tokens(head)) << head;
      if (random.Below(8) == 0) {
        mark = running->Here();
        marked = at;
      } else if (marked > 0 && random.Below(12) == 0) {
        running->Rollback(mark);
        at = marked;
        ASSERT_EQ(running->Total().tokens, Tokens(std::string_view(text).substr(0, at)));
        marked = 0;
      }
    }
  }
}

TEST_P(PublicEncodingTest, RangesEqualTheCountOfThePart) {  // ASM-59
  Random random(/*seed=*/22);
  const std::string text = MixedText(random, 2000);
  const auto ranges = counter_->Prepare(text);
  for (int round = 0; round < 3000; ++round) {
    std::size_t a = utf8::FloorBoundary(text, random.Below(text.size() + 1));
    std::size_t b = utf8::FloorBoundary(text, random.Below(text.size() + 1));
    if (a > b) std::swap(a, b);
    ASSERT_EQ(ranges->CountRange(a, b).tokens, Tokens(std::string_view(text).substr(a, b - a)))
        << a << " to " << b;
  }
}

TEST_P(PublicEncodingTest, TheLongestPartsFitAndNoLongerOneDoes) {  // ASM-T6
  Random random(/*seed=*/23);
  const std::string text = MixedText(random, 40);
  const std::int64_t all = Tokens(text);
  std::vector<std::size_t> places;
  std::vector<std::int64_t> heads, tails;  // the counts before and behind each place
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (utf8::FloorBoundary(text, at) != at) continue;
    places.push_back(at);
    heads.push_back(Tokens(std::string_view(text).substr(0, at)));
    tails.push_back(Tokens(std::string_view(text).substr(at)));
  }
  for (std::int64_t limit = 0; limit <= all + 1; ++limit) {
    const CountedPart head = counter_->LongestPrefix(text, limit),
                      tail = counter_->LongestSuffix(text, limit);
    std::size_t longest_head = 0, longest_tail = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (heads[i] <= limit) longest_head = places[i];
      if (longest_tail == 0 && tails[i] <= limit) longest_tail = text.size() - places[i];
    }
    EXPECT_EQ(head.bytes, longest_head) << "limit " << limit;
    EXPECT_EQ(tail.bytes, longest_tail) << "limit " << limit;
    EXPECT_EQ(head.tokens, Tokens(std::string_view(text).substr(0, head.bytes)));
    EXPECT_EQ(tail.tokens, Tokens(std::string_view(text).substr(text.size() - tail.bytes)));
  }
}

TEST_P(PublicEncodingTest, LongPiecesAreCutWithinTheLimitToo) {  // ASM-T6
  for (const std::string& text :
       {std::string(20'000, 'a'), std::string(20'000, ' '), Repeat("世界这是一个测试", 800)}) {
    for (const std::int64_t limit : {0, 1, 7, 100, 1000, 100'000}) {
      const CountedPart head = counter_->LongestPrefix(text, limit),
                        tail = counter_->LongestSuffix(text, limit);
      EXPECT_LE(Tokens(std::string_view(text).substr(0, head.bytes)), limit);
      EXPECT_LE(Tokens(std::string_view(text).substr(text.size() - tail.bytes)), limit);
      EXPECT_EQ(utf8::FloorBoundary(text, head.bytes), head.bytes);
      EXPECT_GE(head.tokens, std::min<std::int64_t>(limit, Tokens(text)) - 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PublicEncodingTest, ::testing::Values("cl100k_base", "o200k_base"));

TEST(OpenTest, NamesOpenTheirCounters) {  // ASM-55
  EXPECT_EQ(Open("chars", Built())->counter->CountText("naïve").tokens, 5);
  EXPECT_EQ(Open("bytes", Built())->counter->CountText("naïve").tokens, 6);
  EXPECT_THAT(Open("o200k_bsae", Built()),
              FailsWith(ErrorCode::kUsage, "encoding o200k_bsae: unknown (nearest: o200k_base)"));
}

TEST(OpenTest, AMissingTableGivesAnEstimateAndOneWarning) {  // ASM-61, ASM-T19
  for (const auto& [name, tokens] : {std::pair("o200k_base", 100), std::pair("cl100k_base", 114)}) {
    const auto opened = Open(name, {.tables = "/nowhere", .cache = ""});
    ASSERT_TRUE(opened);
    const Count count = opened->counter->CountText(std::string(420, 'x'));
    EXPECT_EQ(count.tokens, tokens);
    EXPECT_FALSE(count.exact);
    EXPECT_EQ(count.margin, 0.15);
    EXPECT_NE(opened->warning.find("is missing: token counts are estimates"), std::string::npos);
    EXPECT_TRUE(opened->identity.empty());
  }
}

TEST(OpenTest, ADamagedTableGivesAnEstimateThatSaysSo) {  // ASM-61, ASM-T19
  const auto table = ReadFile(Built().tables + "/cl100k_base.vocab");
  if (!table) GTEST_SKIP() << "no table of cl100k_base";
  const auto folder = *TempFolder::Make();
  for (const std::string& damaged :
       {table->substr(0, 1000), std::string("nothing"), std::string(),
        table->substr(0, 2'000'000) + "x" + table->substr(2'000'001)}) {
    ASSERT_TRUE(WriteFileAtomic(folder.path() + "/cl100k_base.vocab", damaged));
    const auto opened = Open("cl100k_base", {.tables = folder.path(), .cache = ""});
    ASSERT_TRUE(opened);
    EXPECT_FALSE(opened->counter->exact());
    EXPECT_NE(opened->warning.find("damaged vocabulary table"), std::string::npos)
        << opened->warning;
  }
}

TEST(RankFileTest, AWrongHashIsNamed) {  // ASM-50, ASM-T19
  EXPECT_THAT(ReadRankFile(PublicEncodings()[0], "IQ== 0\n"),
              FailsWith(ErrorCode::kDamaged, "cl100k_base.tiktoken: hash mismatch: SHA-256 is "));
  EXPECT_THAT(ParseRanks("IQ== 0\nIg==1\n"), FailsWith(ErrorCode::kDamaged, "line 2: no token"));
  EXPECT_THAT(ParseRanks("I*== 0\n"), FailsWith(ErrorCode::kDamaged, "line 1: no token"));
}

}  // namespace
}  // namespace dossier::tokens
