#include "tokens/encode/sentence_piece.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/random.h"
#include "testing/result_matchers.h"
#include "tokens/files/gguf.h"
#include "tokens/files/open.h"

namespace dossier::tokens {
namespace {

using ::dossier::testing::FailsWith;
using Begin = SentencePieces::Begin;
using Ids = std::vector<TokenId>;

struct Scored {
  std::string text;
  float score;
};

// The byte tokens have the numbers 0 to 255.
std::vector<Scored> WithBytes(const std::vector<Scored>& more) {
  std::vector<Scored> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.push_back({fmt::format("<0x{:02X}>", byte), 0});
  tokens.insert(tokens.end(), more.begin(), more.end());
  return tokens;
}

Result<SentencePieces> PiecesOf(const std::vector<Scored>& tokens) {
  std::vector<SentencePieces::Token> views;
  for (const Scored& token : tokens) views.push_back({token.text, token.score});
  return SentencePieces::Make(views);
}

std::shared_ptr<const Counter> PieceCounterOf(const std::vector<Scored>& tokens, Begin begin,
                                              std::vector<AddedTokens::Token> added = {}) {
  return MakeSentencePieceCounter({.name = "test",
                                   .pieces = std::move(*PiecesOf(tokens)),
                                   .added = AddedTokens(std::move(added)),
                                   .begin = begin});
}

Ids Encoded(const SentencePieces& pieces, std::string_view text, Begin begin = Begin::kAsItIs) {
  Ids ids;
  pieces.Encode(text, begin, &ids);
  return ids;
}

TEST(SentencePieceTest, TheHighestScoreMergesFirstAndTheLeftmostOfEquals) {  // ASM-52
  const auto pieces = PiecesOf(WithBytes({{"a", 0},
                                          {"b", 0},
                                          {"c", 0},
                                          {"ab", -2},
                                          {"bc", -1},
                                          {"aa", -3},
                                          {"cc", -4},
                                          {"ca", -4},
                                          {"\u2581", -9},
                                          {"\u2581a", -2}}));
  ASSERT_TRUE(pieces);
  constexpr TokenId a = 256, b = 257, c = 258, ab = 259, bc = 260, aa = 261, cc = 262, ca = 263,
                    mark = 264, mark_a = 265;
  struct Case {
    std::string_view text;
    Begin begin;
    Ids ids;
  };
  const Case kCases[] = {
      {"", Begin::kMarked, {}},
      {"abc", Begin::kAsItIs, {a, bc}},
      {"aaa", Begin::kAsItIs, {aa, a}},
      {"cca", Begin::kAsItIs, {cc, a}},  // equals
      {"abab", Begin::kAsItIs, {ab, ab}},
      {"a a", Begin::kMarked, {mark_a, mark_a}},
      {" ab", Begin::kAsItIs, {mark_a, b}},  // equals
      {"b", Begin::kMarked, {mark, b}},
      {"\u2581a", Begin::kAsItIs, {mark_a}},
      {"é\n", Begin::kAsItIs, {0xC3, 0xA9, '\n'}},
      {"ca\u0301", Begin::kAsItIs, {ca, 0xCC, 0x81}},
      {"<0x0A>", Begin::kAsItIs, {'<', '0', 'x', '0', 'A', '>'}},
      {"c c", Begin::kMarked, {mark, c, mark, c}},
  };
  for (const Case& c_ : kCases) EXPECT_EQ(Encoded(*pieces, c_.text, c_.begin), c_.ids) << c_.text;
}

TEST(SentencePieceTest, WhatPyPIsSentencepieceGivesIsGiven) {  // ASM-52
  const std::string folder = DOSSIER_SOURCE_DIR "/tests/tokens/data/";
  for (const char* name : {"marked", "plain"}) {
    const std::string path = folder + "sentence_pieces_" + name;
    const auto opened = Open("gguf:" + path + ".gguf", {});
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_TRUE(opened->counter->exact());
    const auto cases = ParseJson(*ReadFile(path + ".json", 1 << 20));
    ASSERT_TRUE(cases);
    EXPECT_GT(cases->as_array().size(), 100u);
    for (const Json& one : cases->as_array()) {
      const std::string_view text = *FindString(one, "text");
      Ids expected;
      for (const Json& id : Find(one, "ids")->as_array()) {
        expected.push_back(static_cast<TokenId>(id.as_int64()));
      }
      EXPECT_EQ(*opened->counter->Encode(text), expected) << name << ": " << text;
      EXPECT_EQ(opened->counter->CountText(text).tokens,
                static_cast<std::int64_t>(expected.size()));
    }
  }
}

// The rule read aloud, one merge after the other over the whole text.
Ids NaivelyEncoded(const std::vector<Scored>& tokens, std::string_view text) {
  const auto find = [&](std::string_view part) {
    for (std::size_t i = tokens.size(); i > 0; --i) {
      if (tokens[i - 1].text == part) return std::optional<std::size_t>(i - 1);
    }
    return std::optional<std::size_t>();
  };
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const bool space = utf8::Next(text, &at) == ' ';
    parts.emplace_back(space ? SentencePieces::kMarkText : text.substr(start, at - start));
  }
  while (true) {
    std::optional<std::size_t> best;
    float score = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto joined = find(parts[i] + parts[i + 1]);
      if (!joined || (best && tokens[*joined].score <= score)) continue;
      best = i;
      score = tokens[*joined].score;
    }
    if (!best) break;
    parts[*best] += parts[*best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(*best) + 1);
  }
  Ids ids;
  for (const std::string& part : parts) {
    if (const auto known = find(part)) {
      ids.push_back(static_cast<TokenId>(*known));
    } else {
      for (const char byte : part) ids.push_back(static_cast<unsigned char>(byte));
    }
  }
  return ids;
}

constexpr std::string_view kSymbols[] = {"a", "b", "c", " ", "\u2581", "é", "<", "s", ">"};

std::string SomePieceText(Random& random, std::size_t most) {
  std::string text;
  for (std::uint64_t i = random.Below(most); i > 0; --i) {
    text += kSymbols[random.Below(std::size(kSymbols))];
  }
  return text;
}

// Few scores, so that many are equal; some texts twice.
std::vector<Scored> SomeTokens(Random& random) {
  std::vector<Scored> more;
  for (std::uint64_t i = 2 + random.Below(30); i > 0; --i) {
    std::string text = SomePieceText(random, 5);
    for (std::size_t at = 0; (at = text.find(' ', at)) != std::string::npos;) {
      text.replace(at, 1, SentencePieces::kMarkText);
    }
    more.push_back({text, -static_cast<float>(random.Below(6))});
  }
  return WithBytes(more);
}

TEST(SentencePieceTest, EveryVocabularyEncodesAsTheRuleReadAloud) {  // ASM-52
  Random random(/*seed=*/51);
  for (int round = 0; round < 400; ++round) {
    const std::vector<Scored> tokens = SomeTokens(random);
    const auto pieces = PiecesOf(tokens);
    ASSERT_TRUE(pieces);
    for (int text_round = 0; text_round < 5; ++text_round) {
      const std::string text = SomePieceText(random, 40);
      ASSERT_EQ(Encoded(*pieces, text), NaivelyEncoded(tokens, text)) << text;
    }
  }
}

std::vector<AddedTokens::Token> SomeAddedPieces(Random& random) {
  std::vector<AddedTokens::Token> added;
  for (std::uint64_t i = random.Below(4); i > 0; --i) {
    std::string text = SomePieceText(random, 5);
    if (!text.empty()) added.push_back({std::move(text), 7});
  }
  return added;
}

TEST(SentencePieceTest, RunningEqualsTheCountOfTheWhole) {  // ASM-59
  Random random(/*seed=*/52);
  for (int round = 0; round < 400; ++round) {
    const Begin begin = random.Below(2) == 0 ? Begin::kMarked : Begin::kAsItIs;
    const auto counter = PieceCounterOf(SomeTokens(random), begin, SomeAddedPieces(random));
    const std::string text = SomePieceText(random, 100);
    const auto running = counter->Start();
    Running::Mark mark;
    std::size_t marked = 0;
    for (std::size_t at = 0; at < text.size();) {
      // Anywhere, inside code points too.
      const std::size_t step = std::min<std::size_t>(1 + random.Below(9), text.size() - at);
      running->Append(std::string_view(text).substr(at, step));
      at += step;
      ASSERT_EQ(running->Total().tokens, counter->CountText(text.substr(0, at)).tokens) << text;
      if (random.Below(5) == 0) {
        mark = running->Here();
        marked = at;
      } else if (marked > 0 && random.Below(12) == 0) {
        running->Rollback(mark);
        at = marked;
        ASSERT_EQ(running->Total().tokens, counter->CountText(text.substr(0, at)).tokens) << text;
        marked = 0;
      }
    }
  }
}

TEST(SentencePieceTest, MeasuredTextsJoinToTheCountOfTheWhole) {  // ASM-59
  Random random(/*seed=*/55);
  for (int round = 0; round < 400; ++round) {
    const Begin begin = random.Below(2) == 0 ? Begin::kMarked : Begin::kAsItIs;
    const auto counter = PieceCounterOf(SomeTokens(random), begin, SomeAddedPieces(random));
    std::vector<std::string> texts = {"", "\xFF", " "};
    for (int i = 0; i < 6; ++i)
      texts.push_back(SomePieceText(random, random.Below(2) == 0 ? 5 : 300));
    const std::vector<Measured> measured =
        counter->Measure(std::vector<std::string_view>(texts.begin(), texts.end()));
    const auto running = counter->Start();
    std::string whole;
    for (int part = 0; part < 8; ++part) {
      const std::size_t i = random.Below(texts.size());
      ASSERT_EQ(measured[i].tokens, counter->CountText(texts[i]).tokens) << texts[i];
      running->AppendMeasured(texts[i], measured[i]);
      whole += texts[i];
      ASSERT_EQ(running->Total().tokens, counter->CountText(whole).tokens) << whole;
    }
  }
}

TEST(SentencePieceTest, AnAppendCostsWhatItIsLong) {  // ASM-59
  const auto counter = PieceCounterOf(WithBytes({{"a", 0}, {"aa", -1}, {"\u2581a", -2}}),
                                      Begin::kMarked, {{"<tool>", 7}});
  const auto running = counter->Start();
  for (int i = 0; i < 1000; ++i) running->Append("aaa aa <tool>");
  EXPECT_GT(running->Here().settled, 12'900u);
  EXPECT_EQ(running->Total().tokens, 1000 * 13);  // mark of 3 bytes, aa, a; mark, aa; mark; <tool>
}

TEST(SentencePieceTest, TheLongestPrefixFitsAndNoLongerOneDoes) {  // ASM-T6
  Random random(/*seed=*/53);
  for (int round = 0; round < 150; ++round) {
    const auto counter =
        PieceCounterOf(SomeTokens(random), Begin::kMarked, SomeAddedPieces(random));
    const std::string text = SomePieceText(random, 120);
    const auto limit = static_cast<std::int64_t>(random.Below(60));
    CountedPart longest;
    for (std::size_t at = 0; at < text.size();) {
      utf8::Next(text, &at);
      const std::int64_t tokens = counter->CountText(text.substr(0, at)).tokens;
      if (tokens <= limit) longest = {at, tokens};
    }
    const CountedPart cut = counter->LongestPrefix(text, limit);
    EXPECT_EQ(cut.bytes, longest.bytes) << limit << " of " << text;
    EXPECT_EQ(cut.tokens, longest.tokens);
    const CountedPart tail = counter->LongestSuffix(text, limit);
    EXPECT_EQ(tail.tokens, counter->CountText(text.substr(text.size() - tail.bytes)).tokens);
    EXPECT_LE(tail.tokens, limit);
  }
}

TEST(SentencePieceTest, LongRunsThatMayJoinEverywhereAreCounted) {  // ASM-58
  std::vector<Scored> more;
  for (std::size_t bytes = 1; bytes <= 64; ++bytes) {
    more.push_back({std::string(bytes, 'a'), static_cast<float>(bytes)});
  }
  const auto counter = PieceCounterOf(WithBytes(more), Begin::kAsItIs);
  EXPECT_EQ(counter->CountText(std::string(64'000, 'a')).tokens, 1000);
}

TEST(SentencePieceTest, VocabulariesThatCannotBeUsedAreRefusedByName) {  // ASM-52
  EXPECT_THAT(PiecesOf({{"a", 0}}), FailsWith(ErrorCode::kUnavailable, "it has no token <0x00>"));
  EXPECT_THAT(PiecesOf(WithBytes({{"a", std::numeric_limits<float>::quiet_NaN()}})),
              FailsWith(ErrorCode::kDamaged, "the score of token 256 is no number"));
  EXPECT_THAT(PiecesOf(WithBytes({{std::string(5000, 'a'), 0}})),
              FailsWith(ErrorCode::kDamaged, "token 256 has 5000 bytes"));
  GgufFile file;
  file.name = "Phi-3 mini";
  file.tokens = {"</s>"};
  file.types = {4};
  EXPECT_THAT(SentencePiecesOf(file), FailsWith(ErrorCode::kUnavailable, "a tokenizer of phi-3"));
  file.name = "";
  file.scores = {1, 2};
  EXPECT_THAT(SentencePiecesOf(file), FailsWith(ErrorCode::kDamaged, "1 tokens and 2 scores"));
}

TEST(SentencePieceTest, DamagedFilesAreSurvived) {  // ASM-52
  const std::string whole =
      *ReadFile(DOSSIER_SOURCE_DIR "/tests/tokens/data/sentence_pieces_plain.gguf", 1 << 20);
  Random random(/*seed=*/54);
  for (int round = 0; round < 200; ++round) {
    std::string changed = whole;
    for (std::uint64_t i = 0; i <= random.Below(20); ++i) {
      changed[random.Below(changed.size())] = static_cast<char>(random.Next());
    }
    const auto parsed = ParseGguf(changed);
    if (!parsed || !*parsed) continue;
    const auto pieces = SentencePiecesOf(**parsed);
    if (pieces) (void)Encoded(*pieces, "Which file is it?\n\n[[é");
  }
}

}  // namespace
}  // namespace dossier::tokens
