#include "tokens/files/vocabulary_files.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/random.h"
#include "base/text/utf8.h"
#include "testing/result_matchers.h"
#include "tokens/files/gguf.h"
#include "tokens/files/open.h"

namespace dossier::tokens {
namespace {

using ::dossier::testing::FailsWith;

// The printable form of each byte, as GPT-2's makers chose it.
std::string PrintableByte(unsigned byte) {
  for (char32_t c = 0x21; c < 0x150; ++c) {
    std::string one;
    utf8::Append(c, &one);
    const auto back = BytesOfPrintable(one);
    if (back && *back == std::string(1, static_cast<char>(byte))) return one;
  }
  return {};
}

JsonObject ByteLevelFile() {
  JsonObject vocab;
  for (unsigned byte = 0; byte < 256; ++byte) vocab[PrintableByte(byte)] = byte;
  vocab["he"] = 256;
  vocab["hel"] = 257;
  vocab["\u0120h"] = 258;  // " h"
  return {{"added_tokens",
           JsonArray{JsonObject{{"id", 300}, {"content", "<tool>"}, {"special", false}},
                     JsonObject{{"id", 301}, {"content", "<|end|>"}, {"special", true}}}},
          {"normalizer", nullptr},
          {"pre_tokenizer", JsonObject{{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"model", JsonObject{{"type", "BPE"},
                               {"vocab", std::move(vocab)},
                               {"merges", JsonArray{"h e", JsonArray{"he", "l"}, "\u0120 h"}}}}};
}

JsonObject FallbackFile() {
  JsonObject vocab{{"<unk>", 0}};
  for (int byte = 0; byte < 256; ++byte) vocab[fmt::format("<0x{:02X}>", byte)] = 3 + byte;
  int id = 300;
  for (const char* text : {"\u2581", "a", "b", "ab", "\u2581ab"}) vocab[text] = id++;
  JsonArray steps{
      JsonObject{{"type", "Prepend"}, {"prepend", "\u2581"}},
      JsonObject{
          {"type", "Replace"}, {"pattern", JsonObject{{"String", " "}}}, {"content", "\u2581"}}};
  return {{"normalizer", JsonObject{{"type", "Sequence"}, {"normalizers", std::move(steps)}}},
          {"pre_tokenizer", nullptr},
          {"model", JsonObject{{"type", "BPE"},
                               {"byte_fallback", true},
                               {"vocab", std::move(vocab)},
                               {"merges", JsonArray{"a b", "\u2581 ab"}}}}};
}

class TokenizerJsonTest : public ::testing::Test {
 protected:
  Result<Opened> OpenFile(const JsonObject& file) {
    const std::string path = folder_.path() + "/tokenizer.json";
    EXPECT_TRUE(WriteFileAtomic(path, ToJson(file)));
    return Open("hf:" + path, {.tables = "", .cache = folder_.path() + "/cache"});
  }
  TempFolder folder_ = std::move(*TempFolder::Make());
};

TEST_F(TokenizerJsonTest, AByteLevelFileCountsByItsOwnRules) {  // ASM-53, ASM-57
  for (int time = 0; time < 2; ++time) {                        // made, then from the cache
    const auto opened = OpenFile(ByteLevelFile());
    ASSERT_TRUE(opened) << opened.error().message;
    const auto ids = [&](std::string_view text) { return *opened->counter->Encode(text); };
    EXPECT_TRUE(opened->counter->exact());
    EXPECT_EQ(ids("hello"), (std::vector<TokenId>{257, 'l', 'o'}));
    EXPECT_EQ(ids("a<tool>b"), (std::vector<TokenId>{'a', 300, 'b'}));
    EXPECT_EQ(ids("<|end|>").size(), 7u);
    EXPECT_EQ(ids("x hx"), (std::vector<TokenId>{'x', 258, 'x'}));
  }
}

TEST_F(TokenizerJsonTest, TheFilesPatternAndNormaliserAreUsed) {  // ASM-53
  JsonObject file = ByteLevelFile();
  file.erase("added_tokens");
  file["normalizer"] = JsonObject{{"type", "NFC"}};
  JsonArray steps{
      JsonObject{{"type", "Split"},
                 {"pattern", JsonObject{{"Regex", "h|[^h]+"}}},
                 {"behavior", "Isolated"},
                 {"invert", false}},
      JsonObject{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}};
  file["pre_tokenizer"] = JsonObject{{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
  const auto opened = OpenFile(file);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->counter->CountText("hello").tokens, 5);  // h is a piece of its own
  EXPECT_EQ(opened->counter->CountText("e\u0301").tokens,
            opened->counter->CountText("\u00E9").tokens);
  auto running = opened->counter->Start();
  running->Append("e");
  running->Append("\u0301");
  EXPECT_EQ(running->Total().tokens, 2);
}

TEST_F(TokenizerJsonTest, UnknownCodePointsAreSentAsTheirBytes) {  // ASM-53
  const auto opened = OpenFile(FallbackFile());
  ASSERT_TRUE(opened) << opened.error().message;
  const Counter& counter = *opened->counter;
  EXPECT_EQ(*counter.Encode("ab ab"), (std::vector<TokenId>{304, 304}));
  EXPECT_EQ(*counter.Encode("aé"), (std::vector<TokenId>{300, 301, 3 + 0xC3, 3 + 0xA9}));
  EXPECT_EQ(*counter.Encode("\n"), (std::vector<TokenId>{300, 3 + 0x0A}));
  EXPECT_EQ(counter.CountText("aé").tokens, 4);
  EXPECT_EQ(counter.CountText("").tokens, 0);
  // One piece, however long.
  std::string text;
  for (int i = 0; i < 20000; ++i) text += " ab";
  EXPECT_EQ(counter.CountText(text).tokens, 20001);
}

TEST_F(TokenizerJsonTest, WhatIsNotKnownIsRefusedByName) {  // ASM-53
  const auto with = [](JsonObject file, std::string_view key, Json value) {
    file[key] = std::move(value);
    return file;
  };
  JsonObject unigram = ByteLevelFile();
  unigram["model"].as_object()["type"] = "Unigram";
  EXPECT_THAT(OpenFile(unigram), FailsWith(ErrorCode::kUnavailable, "of the type \"Unigram\""));
  EXPECT_THAT(OpenFile(with(ByteLevelFile(), "normalizer", JsonObject{{"type", "Lowercase"}})),
              FailsWith(ErrorCode::kUnavailable, "the normaliser \"Lowercase\""));
  EXPECT_THAT(
      OpenFile(with(ByteLevelFile(), "pre_tokenizer", JsonObject{{"type", "BertPreTokenizer"}})),
      FailsWith(ErrorCode::kUnavailable, "the splitting \"BertPreTokenizer\""));
  EXPECT_THAT(OpenFile(with(ByteLevelFile(), "model", 3)),
              FailsWith(ErrorCode::kDamaged, "has no model"));
  JsonObject merges = ByteLevelFile();
  merges["model"].as_object()["merges"] = JsonArray{"q zz"};
  EXPECT_THAT(OpenFile(merges), FailsWith(ErrorCode::kDamaged, "a merge is not of two tokens"));
  JsonObject missing = ByteLevelFile();
  missing["model"].as_object()["vocab"].as_object().erase("a");
  EXPECT_THAT(OpenFile(missing), FailsWith(ErrorCode::kDamaged, "byte 0x61 has no token"));
  EXPECT_THAT(ParseTokenizerJson("{"), FailsWith(ErrorCode::kDamaged, "no tokenizer.json"));
}

TEST_F(TokenizerJsonTest, ChangedFilesAreSurvived) {  // ASM-53
  const std::string whole = ToJson(FallbackFile());
  Random random(/*seed=*/51);
  for (int round = 0; round < 2000; ++round) {
    std::string changed = whole;
    for (std::uint64_t i = 0; i <= random.Below(3); ++i) {
      changed[random.Below(changed.size())] = static_cast<char>(' ' + random.Below(95));
    }
    const auto parsed = ParseTokenizerJson(changed);
    if (parsed) (void)BuildVocabulary(parsed->source);
  }
}

}  // namespace
}  // namespace dossier::tokens
