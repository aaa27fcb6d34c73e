#include "tokens/files/gguf.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/files/file.h"
#include "base/random.h"
#include "base/text/utf8.h"
#include "testing/result_matchers.h"
#include "tokens/files/open.h"

namespace dossier::tokens {
namespace {

using ::dossier::testing::FailsWith;

template <typename T>
std::string Raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
std::string Text(std::string_view text) {
  return Raw(std::uint64_t{text.size()}) + std::string(text);
}
std::string Texts(const std::vector<std::string>& texts) {
  std::string out =
      Raw(std::uint32_t{9}) + Raw(std::uint32_t{8}) + Raw(std::uint64_t{texts.size()});
  for (const std::string& text : texts) out += Text(text);
  return out;
}

// The printable form of bytes.
std::string Printable(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    for (char32_t code_point = 0x21; code_point < 0x150; ++code_point) {
      std::string one;
      utf8::Append(code_point, &one);
      const auto back = BytesOfPrintable(one);
      if (back && *back == std::string(1, c)) out += one;
    }
  }
  return out;
}

// A file with all bytes, " h", "he" and "hel", a token by hand and a control token.
std::string SmallFile(std::string_view model = "gpt2", std::string_view pre = "qwen2") {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back(Printable(std::string(1, static_cast<char>(byte))));
  for (const char* text : {" h", "he", "hel"}) tokens.push_back(Printable(text));
  tokens.insert(tokens.end(), {"<tool>", "<|end|>"});
  std::string types =
      Raw(std::uint32_t{9}) + Raw(std::uint32_t{5}) + Raw(std::uint64_t{tokens.size()});
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    types += Raw(std::int32_t{i == 259 ? 4 : i == 260 ? 3 : 1});
  }
  return "GGUF" + Raw(std::uint32_t{3}) + Raw(std::uint64_t{0}) + Raw(std::uint64_t{6}) +
         Text("general.alignment") + Raw(std::uint32_t{4}) + Raw(std::uint32_t{32}) +
         Text("tokenizer.ggml.model") + Raw(std::uint32_t{8}) + Text(model) +
         Text("tokenizer.ggml.pre") + Raw(std::uint32_t{8}) + Text(pre) +
         Text("tokenizer.ggml.tokens") + Texts(tokens) + Text("tokenizer.ggml.token_type") + types +
         Text("tokenizer.ggml.merges") + Texts({"h e", "he l", Printable(" ") + " h"});
}

class GgufTest : public ::testing::Test {
 protected:
  Result<Opened> OpenBytes(std::string_view bytes) {
    const std::string path = folder_.path() + "/small.gguf";
    EXPECT_TRUE(WriteFileAtomic(path, bytes));
    return Open("gguf:" + path, {.tables = "", .cache = folder_.path() + "/cache"});
  }
  TempFolder folder_ = std::move(*TempFolder::Make());
};

TEST_F(GgufTest, AFilesOwnVocabularyCountsAndIsKept) {  // ASM-52, ASM-57
  for (int time = 0; time < 2; ++time) {                // made, then from the cache
    const auto opened = OpenBytes(SmallFile());
    ASSERT_TRUE(opened) << opened.error().message;
    const auto ids = [&](std::string_view text) { return *opened->counter->Encode(text); };
    EXPECT_TRUE(opened->counter->exact());
    EXPECT_EQ(ids("hello"), (std::vector<TokenId>{258, 'l', 'o'}));
    EXPECT_EQ(ids("a hel"), (std::vector<TokenId>{'a', ' ', 258}));  // "h e" before " h"
    EXPECT_EQ(ids("a<tool>b"), (std::vector<TokenId>{'a', 259, 'b'}));
    EXPECT_EQ(ids("<|end|>").size(), 7u);
    EXPECT_EQ(opened->counter->CountText("12<tool>").tokens, 3);
  }
  EXPECT_TRUE(Exists(folder_.path() + "/cache/vocabularies"));
}

TEST_F(GgufTest, RunningAndRangesKnowTheTokensByHand) {  // ASM-59
  const auto opened = OpenBytes(SmallFile());
  ASSERT_TRUE(opened);
  const Counter& counter = *opened->counter;
  Random random(/*seed=*/41);
  std::string text;
  for (int part = 0; part < 400; ++part) {
    constexpr std::string_view kParts[] = {"<tool>", "<too", "l>", "hel", " h",
                                           "12",     "\n\n", "é",  "x y"};
    text += kParts[random.Below(std::size(kParts))];
  }
  auto running = counter.Start();
  for (std::size_t at = 0; at < text.size(); at += 7) {
    running->Append(std::string_view(text).substr(at, 7));
    ASSERT_EQ(running->Total().tokens, counter.CountText(text.substr(0, at + 7)).tokens);
  }
  const auto ranges = counter.Prepare(text);
  for (int round = 0; round < 500; ++round) {
    std::size_t a = utf8::FloorBoundary(text, random.Below(text.size()));
    std::size_t b = utf8::FloorBoundary(text, random.Below(text.size()));
    if (a > b) std::swap(a, b);
    ASSERT_EQ(ranges->CountRange(a, b).tokens, counter.CountText(text.substr(a, b - a)).tokens);
  }
}

TEST_F(GgufTest, FilesThatCannotBeReadAreRefusedByName) {  // ASM-52
  EXPECT_THAT(OpenBytes("PNG" + std::string(100, '\0')),
              FailsWith(ErrorCode::kDamaged, "it is no GGUF file"));
  EXPECT_THAT(OpenBytes("abc"), FailsWith(ErrorCode::kDamaged, "it is no GGUF file"));
  EXPECT_THAT(OpenBytes("GG"), FailsWith(ErrorCode::kDamaged, "cut short"));
  EXPECT_THAT(Open("gguf:", {}), FailsWith(ErrorCode::kUsage, "encoding gguf:: names no file"));
  EXPECT_THAT(OpenBytes(SmallFile("bert")),
              FailsWith(ErrorCode::kUnavailable, "of the kind \"bert\""));
  EXPECT_THAT(OpenBytes(SmallFile("gpt2", "tekken")),
              FailsWith(ErrorCode::kUnavailable, "its splitting \"tekken\" is not known here"));
  EXPECT_THAT(Open("gguf:/nowhere/x.gguf", {}), FailsWith(ErrorCode::kNotFound, "/nowhere/x.gguf"));
}

TEST_F(GgufTest, EveryCutAndChangedByteIsSurvived) {  // ASM-52
  const std::string whole = SmallFile();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    const auto parsed = ParseGguf(whole.substr(0, size));
    EXPECT_TRUE(!parsed || !*parsed) << size;  // refused, or more wanted
  }
  Random random(/*seed=*/42);
  for (int round = 0; round < 3000; ++round) {
    std::string changed = whole;
    for (std::uint64_t i = 0; i <= random.Below(3); ++i) {
      changed[random.Below(changed.size())] = static_cast<char>(random.Next());
    }
    const auto parsed = ParseGguf(changed);
    if (!parsed || !*parsed) continue;
    const auto vocabulary = VocabularyOf(**parsed);
    if (vocabulary) (void)BuildVocabulary(vocabulary->source);
  }
}

// A file of 28 layers and nothing but numbers, some of them not of the model's shape.
std::string NumbersFile(const std::vector<std::pair<std::string, std::uint64_t>>& numbers) {
  std::string file =
      "GGUF" + Raw(std::uint32_t{3}) + Raw(std::uint64_t{0}) + Raw(std::uint64_t{numbers.size()});
  for (const auto& [name, number] : numbers) {
    const bool small = number <= 0xFFFFFFFF;
    file += Text(name) + Raw(std::uint32_t{small ? 4u : 10u});
    file += small ? Raw(static_cast<std::uint32_t>(number)) : Raw(number);
  }
  return file;
}

TEST_F(GgufTest, TheShapeOfTheModelIsRead) {  // MOD-33
  const auto file = ParseGguf(NumbersFile({{"general.alignment", 32},
                                           {"qwen2.context_length", 32768},
                                           {"qwen2.block_count", 28},
                                           {"qwen2.embedding_length", 1536},
                                           {"qwen2.attention.head_count", 12},
                                           {"qwen2.attention.head_count_kv", 2},
                                           {"context_length", 7}}));
  ASSERT_TRUE(file && *file);
  EXPECT_EQ((*file)->shape.context_length, 32768u);
  EXPECT_EQ((*file)->shape.KvBytes(), 28'672u) << "28 layers x 2 heads x 128 numbers x 2 x 2 bytes";
}

TEST_F(GgufTest, AShapeThatIsMissingOrUnbelievableIsNotUsed) {  // MOD-33
  EXPECT_EQ(GgufShape{}.KvBytes(), std::nullopt);
  const auto file = ParseGguf(NumbersFile({{"a.block_count", 1ull << 62},
                                           {"a.attention.head_count", 1ull << 62},
                                           {"a.attention.key_length", 1ull << 62},
                                           {"a.attention.value_length", 1}}));
  ASSERT_TRUE(file && *file);
  EXPECT_EQ((*file)->shape.KvBytes(), std::nullopt);
  EXPECT_EQ((*file)->shape.context_length, 0u);
}

}  // namespace
}  // namespace dossier::tokens
