#include "ask/reply/truncation.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kSentence =
    "\n[Output truncated to 20,000 of 20,001 characters. Use llm_query() to analyze content you "
    "cannot see.]";

TEST(TruncationTest, CutsAboveTheLimitAndSaysSo) {  // REC-33, REC-A4
  for (const std::size_t size : {0, 19'999, 20'000}) {
    const std::string output(size, 'x');
    EXPECT_EQ(TruncateCodeOutput(output), output) << size;
  }
  EXPECT_EQ(TruncateCodeOutput(std::string(20'001, 'x')),
            std::string(20'000, 'x') + std::string(kSentence));
  std::string wide;
  for (int i = 0; i < 20'000; ++i) wide += "東";
  EXPECT_EQ(TruncateCodeOutput(wide), wide);
  EXPECT_EQ(TruncateCodeOutput(wide + "x"), wide + std::string(kSentence));
  EXPECT_THAT(TruncateCodeOutput(std::string(60'000, 'x'), 100),
              EndsWith("[Output truncated to 100 of 60,000 characters. Use llm_query() to analyze "
                       "content you cannot see.]"));
}

TEST(TruncationTest, WithoutSubCallsNoneAreAdvised) {  // REC-33
  EXPECT_EQ(TruncateCodeOutput("abcdef", {.max_chars = 3, .sub_calls = SubCalls::kNotOffered}),
            "abc\n[Output truncated to 3 of 6 characters.]");
}

TEST(TruncationTest, TheSmallProfileCutsInTheMiddle) {  // REC-33
  EXPECT_EQ(TruncateCodeOutput("abcdefghij", {.max_chars = 4, .cut = Cut::kMiddle}),
            "ab\n[… 6 of 10 characters left out …]\nij");
  EXPECT_EQ(TruncateCodeOutput("abcdefghij", {.max_chars = 5, .cut = Cut::kMiddle}),
            "abc\n[… 5 of 10 characters left out …]\nij");
  EXPECT_EQ(TruncateCodeOutput("abcd", {.max_chars = 4, .cut = Cut::kMiddle}), "abcd");
  EXPECT_THAT(
      TruncateCodeOutput(std::string(5'000, 'x'), {.max_chars = 4'000, .cut = Cut::kMiddle}),
      HasSubstr("[… 1,000 of 5,000 characters left out …]"));
}

TEST(TruncationTest, TheBlocksOfATurnShareAQuarterOfTheContext) {  // REC-35, REC-A4, REC-A12
  EXPECT_EQ(ShareOfCorpusLimit(200'000), 50'000u);
  EXPECT_EQ(ShareOfCorpusLimit(8'000), 2'000u);
  EXPECT_EQ(ShareOfCorpusLimit(0), 2'000u);

  const std::string a(15'000, 'a'), b(15'000, 'b');
  const auto both = TruncateTurn(std::vector<PrintedOutput>{{a}, {b}}, 200'000, {});
  EXPECT_EQ(both[0].text, a);
  EXPECT_EQ(both[1].text, b);
  EXPECT_EQ(both[1].notice, "");

  const std::string c(25'000, 'c');
  const auto cut = TruncateTurn(std::vector<PrintedOutput>{{c}, {"12345"}}, 200'000, {});
  EXPECT_THAT(cut[0].notice, HasSubstr("truncated to 20,000 of 25,000"));
  EXPECT_EQ(cut[1].text, "12345");

  const auto small =
      TruncateTurn(std::vector<PrintedOutput>{{std::string(8'000, 'd')}, {"12345"}}, 8'000, {});
  EXPECT_THAT(small[0].notice, HasSubstr("truncated to 2,000 of 8,000"));
  EXPECT_THAT(small[1].notice, HasSubstr("truncated to 0 of 5"))
      << "served in order: nothing was left";
  const auto order =
      TruncateTurn(std::vector<PrintedOutput>{{"12345"}, {std::string(8'000, 'd')}}, 8'000, {});
  EXPECT_EQ(order[0].text, "12345");
  EXPECT_THAT(order[1].notice, HasSubstr("truncated to 1,995 of 8,000"));
}

TEST(TruncationTest, WhatWasPrintedIsCountedNotWhatWasKept) {  // FLT-32
  const PrintedOutput kept{std::string(30'000, 'x'), 100'000'001};
  const auto end = TruncateTurn(std::vector{kept}, 1'000'000, {});
  EXPECT_THAT(end[0].notice, HasSubstr("truncated to 20,000 of 100,000,001 characters"));
  const auto middle =
      TruncateTurn(std::vector{kept}, 1'000'000, {.max_chars = 4, .cut = Cut::kMiddle});
  EXPECT_EQ(middle[0].text, "xx\n[… 99,999,997 of 100,000,001 characters left out …]\nxx");
}

TEST(TruncationTest, AnErrorKeepsItsEnd) {  // REC-34
  const std::string error = std::string(9'000, 't') + "ValueError: bad";
  EXPECT_THAT(TruncateError(error), EndsWith("ValueError: bad"));
  EXPECT_THAT(TruncateError(error), HasSubstr("[… 5,015 of 9,015 characters left out …]"));
  EXPECT_EQ(TruncateError("KeyError: 'x'"), "KeyError: 'x'");
}

TEST(TruncationTest, NoCodePointIsEverCut) {  // REC-33
  Random random(31);
  for (int round = 0; round < 3000; ++round) {
    const std::string output = random.Utf8(200);
    const TruncationOptions options{.max_chars = random.Below(60),
                                    .cut = random.Below(2) ? Cut::kEnd : Cut::kMiddle};
    const std::string shown = TruncateCodeOutput(output, options);
    EXPECT_TRUE(utf8::IsValid(shown));
    const bool cut = utf8::CodePoints(output) > options.max_chars;
    EXPECT_EQ(shown == output, !cut);
    if (cut) {
      EXPECT_TRUE(shown.starts_with(utf8::Prefix(output, options.max_chars / 2)));
    }
    const std::string bytes = random.Bytes(100);
    TruncateCodeOutput(bytes, options);
  }
}

}  // namespace
}  // namespace dossier::ask
