#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text/utf8.h"
#include "testing/result_matchers.h"
#include "tokens/encode/bpe_counter.h"
#include "tokens/encode/vocabulary.h"

namespace dossier::tokens {
namespace {

// All bytes and a few words, split by `rule`, with added tokens.
std::shared_ptr<const Counter> CounterOf(SplitRule rule, std::vector<AddedTokens::Token> added) {
  VocabularySource source{.rule = rule};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    source.tokens.push_back({std::string(1, static_cast<char>(byte)), byte, byte});
  }
  for (const char* text : {"ab", "abc", " a", "\n\n", "  ", " ab", "de", "bc", " )"}) {
    const auto next = static_cast<std::uint32_t>(source.tokens.size());
    source.tokens.push_back({text, next, next});
  }
  auto bytes = BuildVocabulary(source);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return MakeBpeCounter({.name = "test",
                         .vocabulary = *Vocabulary::FromBytes(std::move(*bytes)),
                         .added = AddedTokens(std::move(added))});
}

// A few of them, so that what is added occurs and overlaps.
using Parts = std::vector<std::string_view>;
Parts SomeParts(Random& random) {
  constexpr std::string_view kParts[] = {"a", "b", "c", "d", "e", " ", "  ", "\n", "'s", "(",
                                         ")", "[", "<", ">", "A", "1", ".",  "é",  "世", "abc"};
  Parts parts;
  for (std::size_t count = 3 + random.Below(6); parts.size() < count;) {
    parts.push_back(kParts[random.Below(std::size(kParts))]);
  }
  return parts;
}

std::string SomeText(Random& random, const Parts& parts, std::size_t most) {
  std::string text;
  for (std::size_t count = random.Below(most); count > 0; --count) {
    text += parts[random.Below(parts.size())];
  }
  return text;
}

std::vector<AddedTokens::Token> SomeAdded(Random& random, const Parts& parts) {
  std::vector<AddedTokens::Token> added;
  for (std::size_t count = random.Below(7); count > 0; --count) {
    std::string text = SomeText(random, parts, 7);
    if (text.size() > 1) added.push_back({std::move(text), static_cast<TokenId>(count)});
  }
  return added;
}

std::shared_ptr<const Counter> SomeCounter(Random& random, const Parts& parts) {
  constexpr SplitRule kRules[] = {SplitRule::kO200k, SplitRule::kCl100k, SplitRule::kLlama3,
                                  SplitRule::kQwen2, SplitRule::kGpt2,   SplitRule::kNone};
  return CounterOf(kRules[random.Below(std::size(kRules))], SomeAdded(random, parts));
}

TEST(RunningTest, AnAddedTokenThatALongerOneDisplacesMovesBordersBeforeIt) {  // ASM-59
  struct Case {
    std::vector<AddedTokens::Token> added;
    std::string_view head, more;
  };
  const Case cases[] = {
      // ")[]" gives way to "]{};,.", which sets "()" free, across the border after "(".
      {{{"]{};,.", 1}, {")[]", 2}, {"()", 3}}, "1()[]{};,", "."},
      // ")[]" gives way, and the white space before it is no longer at an end.
      {{{"]{};,.", 1}, {")[]", 2}}, "x   )[]{};,", "."},
  };
  for (const Case& c : cases) {
    const auto counter = CounterOf(SplitRule::kO200k, c.added);
    const auto running = counter->Start();
    for (const char next : c.head) running->Append(std::string_view(&next, 1));
    running->Append(c.more);
    const std::string whole = std::string(c.head) + std::string(c.more);
    EXPECT_EQ(running->Total().tokens, counter->CountText(whole).tokens) << whole;
  }
}

TEST(RunningTest, TotalsEqualTheCountOfTheWholeWhateverIsAdded) {  // ASM-59
  Random random(/*seed=*/61);
  for (int round = 0; round < 1500; ++round) {
    const Parts parts = SomeParts(random);
    const auto counter = SomeCounter(random, parts);
    const std::string text = SomeText(random, parts, 80);
    const auto running = counter->Start();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t step = std::min<std::size_t>(1 + random.Below(12), text.size() - at);
      running->Append(std::string_view(text).substr(at, step));
      at += step;
      ASSERT_EQ(running->Total().tokens, counter->CountText(text.substr(0, at)).tokens) << text;
    }
  }
}

TEST(RunningTest, RangesEqualTheCountOfThePartWhateverIsAdded) {  // ASM-59
  Random random(/*seed=*/62);
  for (int round = 0; round < 60; ++round) {
    const Parts parts = SomeParts(random);
    const auto counter = SomeCounter(random, parts);
    const std::string text = SomeText(random, parts, 2500);
    const auto ranges = counter->Prepare(text);
    for (int part = 0; part < 60; ++part) {
      std::size_t begin = utf8::FloorBoundary(text, random.Below(text.size() + 1));
      std::size_t end = utf8::FloorBoundary(text, random.Below(text.size() + 1));
      if (begin > end) std::swap(begin, end);
      ASSERT_EQ(ranges->CountRange(begin, end).tokens,
                counter->CountText(text.substr(begin, end - begin)).tokens)
          << begin << " to " << end << " of " << text;
    }
  }
}

// Joins measured texts at random and compares with the count of the whole.
void JoinAtRandom(const Counter& counter, const std::vector<std::string>& texts, Random& random) {
  const std::vector<Measured> measured =
      counter.Measure(std::vector<std::string_view>(texts.begin(), texts.end()));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_EQ(measured[i].tokens, counter.CountText(texts[i]).tokens) << texts[i];
  }
  const auto running = counter.Start();
  std::string whole;
  for (int part = 0; part < 12; ++part) {
    const std::size_t i = random.Below(texts.size());
    const Running::Mark mark = running->Here();
    running->AppendMeasured(texts[i], measured[i]);
    if (random.Below(4) == 0) {
      running->Rollback(mark);
      running->AppendMeasured(texts[i], measured[i]);
    }
    whole += texts[i];
    if (random.Below(2) == 0) {
      running->Append("\n\n");
      whole += "\n\n";
    }
    ASSERT_EQ(running->Total().tokens, counter.CountText(whole).tokens) << whole;
  }
}

TEST(RunningTest, MeasuredTextsJoinToTheCountOfTheWhole) {  // ASM-59
  Random random(/*seed=*/63);
  for (int round = 0; round < 400; ++round) {
    const Parts parts = SomeParts(random);
    const auto counter = SomeCounter(random, parts);
    std::vector<std::string> texts = {"", "\xFF", "\n", "  ", std::string(700, 'a')};
    for (int i = 0; i < 6; ++i)
      texts.push_back(SomeText(random, parts, random.Below(2) == 0 ? 8 : 400));
    JoinAtRandom(*counter, texts, random);
    JoinAtRandom(**MakeScaled(counter, 1.3, 0.15), texts, random);
  }
  JoinAtRandom(*MakeCharCounter(), {"naïve", "\n"}, random);
}

TEST(RunningTest, AMeasuredTextIsNotCountedAgain) {  // ASM-59
  const auto counter = CounterOf(SplitRule::kO200k, {});
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "abc de.\n";
  const std::string_view views[] = {text};
  Measured measured = counter->Measure(views).front();
  EXPECT_GT(measured.lasting.bytes, text.size() - 16);
  // Were it counted again, the count would be the true one.
  measured.lasting.tokens += 1000;
  const auto running = counter->Start();
  running->Append("de");
  running->AppendMeasured(text, measured);
  EXPECT_EQ(running->Total().tokens, counter->CountText("de" + text).tokens + 1000);
}

}  // namespace
}  // namespace dossier::tokens
