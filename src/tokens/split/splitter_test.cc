#include "tokens/split/splitter.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text/utf8.h"

namespace dossier::tokens {
namespace {

constexpr SplitRule kRules[] = {SplitRule::kCl100k, SplitRule::kO200k, SplitRule::kLlama3,
                                SplitRule::kQwen2, SplitRule::kGpt2};

std::vector<std::string> Pieces(SplitRule rule, std::string_view text) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = NextPiece(rule, text, at);
    pieces.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

// Text of the code points that rules speak of; none that Unicode 14, which PCRE2 has, lacks.
std::string TellingText(Random& random) {
  constexpr char32_t kTelling[] = {
      U' ', U' ', U' ',  U'\n',     U'\r',     U'\t',     U'\'',     U'\'',     U's',      U'S',
      U't', U'd', U'm',  U'l',      U'L',      U'v',      U'e',      U'E',      U'r',      U'a',
      U'Z', U'0', U'7',  U'/',      U'.',      U'!',      U'-',      U'é',      U'É',      U'ſ',
      U'ǅ', U'ʰ', U'中', U'の',     U'\u0301', U'\u00A0', U'\u3000', U'\u0085', U'\u2028', U'½',
      U'Ⅷ', U'٣', U'🌍', U'\u200D', U'𝔸',      U'\u20E3'};
  std::string text;
  for (std::uint64_t left = random.Below(40); left > 0; --left) {
    utf8::Append(kTelling[random.Below(std::size(kTelling))], &text);
  }
  return text;
}

TEST(SplitterTest, CutsAsTheExamplesOfEachRule) {  // ASM-50, ASM-51, ASM-52
  struct Case {
    SplitRule rule;
    std::string_view text;
    std::vector<std::string> pieces;
  };
  const Case cases[] = {
      {SplitRule::kCl100k, "don't DON'T", {"don", "'t", " DON", "'T"}},
      {SplitRule::kO200k, "don't DON'T", {"don't", " DON'T"}},
      {SplitRule::kO200k, "XMLHttpRequest", {"XMLHttp", "Request"}},
      {SplitRule::kCl100k, "1234567", {"123", "456", "7"}},
      {SplitRule::kQwen2, "123", {"1", "2", "3"}},
      {SplitRule::kGpt2, " 1234567", {" 1234567"}},
      {SplitRule::kCl100k, "a  b\n\n  c", {"a", " ", " b", "\n\n", " ", " c"}},
      {SplitRule::kCl100k, "a\n  ", {"a", "\n  "}},
      {SplitRule::kLlama3, "a\n  ", {"a", "\n", "  "}},
      {SplitRule::kO200k, "http://a//\nb", {"http", "://", "a", "//\n", "b"}},
      {SplitRule::kO200k, "AB中CD", {"AB中", "CD"}},
  };
  for (const Case& c : cases) EXPECT_EQ(Pieces(c.rule, c.text), c.pieces) << c.text;
}

TEST(SplitterTest, CutsAsThePublishedPatternDoes) {  // ASM-50, ASM-51, ASM-52
  Random random(/*seed=*/11);
  for (const SplitRule rule : kRules) {
    const auto pattern = Pattern::Compile(PatternOf(rule));
    ASSERT_TRUE(pattern) << pattern.error().message;
    for (int round = 0; round < 20000; ++round) {
      const std::string text = TellingText(random);
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = NextPiece(rule, text, at);
        ASSERT_EQ(end, (*pattern)->PieceEnd(text, at))
            << text << " at " << at << ", rule " << static_cast<int>(rule);
        at = end;
      }
    }
  }
}

TEST(SplitterTest, ALastingBorderStaysWhateverIsAppended) {  // ASM-59
  Random random(/*seed=*/12);
  for (const SplitRule rule : kRules) {
    int lasting = 0;
    for (int round = 0; round < 5000; ++round) {
      const std::string text = TellingText(random), longer = text + TellingText(random);
      const auto before = Pieces(rule, text), after = Pieces(rule, longer);
      std::size_t at = 0, border = 0, last = 0;
      for (std::size_t i = 0; i < before.size(); ++i) {
        at += before[i].size();
        if (!IsLasting(text, at)) continue;
        border = at;
        last = i + 1;
      }
      lasting += border > 0;
      ASSERT_GE(after.size(), last);
      for (std::size_t i = 0; i < last; ++i) ASSERT_EQ(before[i], after[i]) << longer;
    }
    EXPECT_GT(lasting, 1000);  // the property says something
  }
}

TEST(SplitterTest, KnowsItsOwnPatternsByTheirText) {  // ASM-53
  for (const SplitRule rule : kRules) EXPECT_EQ(RuleOfPattern(PatternOf(rule)), rule);
  EXPECT_EQ(RuleOfPattern(R"(\w+)"), std::nullopt);
}

}  // namespace
}  // namespace dossier::tokens
