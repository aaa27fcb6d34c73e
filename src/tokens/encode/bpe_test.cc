#include "tokens/encode/bpe.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "base/text/utf8.h"
#include "testing/result_matchers.h"
#include "tokens/encode/vocabulary.h"

namespace dossier::tokens {
namespace {

using ::dossier::testing::FailsWith;

std::shared_ptr<const Vocabulary> Build(const VocabularySource& source) {
  auto bytes = BuildVocabulary(source);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return *Vocabulary::FromBytes(std::move(*bytes));
}

// All bytes, and random tokens over few letters, each made of two that exist: many ways to merge.
VocabularySource RandomSource(Random& random) {
  VocabularySource source;
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
  std::vector<std::string> parts = {"a", "b", "c"};
  while (parts.size() < 40) {
    std::string text = parts[random.Below(parts.size())] + parts[random.Below(parts.size())];
    if (text.size() > 12 || std::find(parts.begin(), parts.end(), text) != parts.end()) continue;
    parts.push_back(text);
    texts.push_back(text);
  }
  for (std::uint32_t i = 0; i < texts.size(); ++i) source.tokens.push_back({texts[i], i, i});
  return source;
}

// The definition: again and again the joined pair of lowest rank, the leftmost of equals.
std::vector<std::string> Reference(const VocabularySource& source, std::string_view text) {
  std::map<std::string, std::uint32_t> ranks;
  for (const SourceToken& token : source.tokens) ranks[token.text] = token.rank;
  std::vector<std::string> parts;
  for (const char c : text) parts.emplace_back(1, c);
  while (true) {
    std::uint32_t best = kNone;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto joined = ranks.find(parts[i] + parts[i + 1]);
      if (joined == ranks.end() || joined->second >= best) continue;
      best = joined->second;
      at = i;
    }
    if (best == kNone) return parts;
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

std::vector<std::string> Texts(const Bpe& bpe, const Encoding& encoding) {
  std::vector<std::string> texts;
  for (const std::uint32_t token : encoding.tokens)
    texts.emplace_back(bpe.vocabulary().Text(token));
  return texts;
}

std::string Letters(Random& random, std::size_t count) {
  std::string text;
  for (; count > 0; --count) text += static_cast<char>('a' + random.Below(3));
  return text;
}

TEST(BpeTest, MergesAsTheDefinitionSaysWhateverTheLength) {  // ASM-58
  Random random(/*seed=*/31);
  for (int round = 0; round < 10; ++round) {
    const VocabularySource source = RandomSource(random);
    const Bpe bpe(Build(source));
    for (const std::size_t length : {1, 2, 3, 4, 5, 17, 63, 64, 65, 130, 300}) {
      const std::string text = Letters(random, length);
      const std::vector<std::string> wanted = Reference(source, text);
      Encoding encoding;
      bpe.Extend(text, &encoding);
      ASSERT_EQ(Texts(bpe, encoding), wanted) << text;
      if (wanted.size() > 1) {
        EXPECT_EQ(bpe.Count(text), wanted.size()) << text;
      }
    }
  }
}

TEST(BpeTest, AnEncodingGrowsAndShrinksWithItsText) {  // ASM-59
  Random random(/*seed=*/32);
  for (int round = 0; round < 20; ++round) {
    const VocabularySource source = RandomSource(random);
    const Bpe bpe(Build(source));
    const std::string text = Letters(random, 400);
    Encoding grown;
    for (int step = 0; step < 30; ++step) {
      const std::string_view head = std::string_view(text).substr(0, random.Below(400));
      bpe.Shorten(head.size(), &grown);
      bpe.Extend(head, &grown);
      Encoding whole;
      bpe.Extend(head, &whole);
      ASSERT_EQ(grown.tokens, whole.tokens);
      ASSERT_EQ(grown.bytes, head.size());
    }
  }
}

TEST(BpeTest, ARowOfLikeBytesIsMergedAsOthers) {  // ASM-58
  VocabularySource source;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    source.tokens.push_back({std::string(1, static_cast<char>(byte)), byte, byte});
  }
  for (std::uint32_t i = 0; i < 5; ++i) {
    source.tokens.push_back({std::string(2u << i, 'a'), 256 + i, 256 + i});
  }
  const Bpe bpe(Build(source));
  for (const std::size_t length : {127, 128, 129, 500, 1001}) {
    EXPECT_EQ(bpe.Count("b" + std::string(length, 'a') + "b"),
              Reference(source, "b" + std::string(length, 'a') + "b").size());
  }
}

TEST(VocabularyBuilderTest, WhatNoEncoderCouldUseIsRefused) {
  VocabularySource source;
  source.tokens.push_back({"a", 0, 0});
  EXPECT_THAT(BuildVocabulary(source), FailsWith(ErrorCode::kDamaged, "byte 0x00 has no token"));
  source.tokens.push_back({"a", 1, 1});
  EXPECT_THAT(BuildVocabulary(source),
              FailsWith(ErrorCode::kDamaged, "token 1 has the text of another"));
  source.tokens[1].text.clear();
  EXPECT_THAT(BuildVocabulary(source), FailsWith(ErrorCode::kDamaged, "token 1 has 0 bytes"));
  source.tokens[1].text.assign(kMostTokenBytes + 1, 'x');
  EXPECT_THAT(BuildVocabulary(source), FailsWith(ErrorCode::kDamaged, "token 1 has 4097 bytes"));
}

}  // namespace
}  // namespace dossier::tokens
