#include "memory/blocks/block_json.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace dossier::memory {
namespace {

TEST(BlockJsonTest, SaysWhereAndWhatWasExpected) {  // MEM-23
  struct Case {
    std::string_view text;
    std::size_t offset;
    std::string_view expected;
  };
  constexpr Case kCases[] = {
      {R"({"a" 1})", 5, "':'"},
      {R"({"a": 1 "b": 2})", 8, "',' or '}'"},
      {R"({"a": [1 2]})", 9, "',' or ']'"},
      {R"({"a": })", 6, "a value"},
      {R"({"a": 1,})", 8, "a name in double quotes"},
      {R"({a: 1})", 1, "a name in double quotes or '}'"},
      {R"({'a': 1})", 1, "a name in double quotes or '}'"},
      {R"({"a": tru})", 6, "a value"},
      {R"({"a": 01})", 7, "',' or '}'"},
      {R"({"a": 1.})", 8, "a digit"},
      {R"({"a": "x)", 8, "'\"'"},
      {"{\"a\": \"x\ny\"}", 8, "'\"' (a line end in a text is written \\n)"},
      {R"({"a": "\q"})", 8, "one of \" \\ / b f n r t u after '\\'"},
      {R"({"a": "\u12g4"})", 11, "four hexadecimal digits"},
      {R"({"a": "\ud800"})", 13, "the second half of a surrogate pair"},
      {R"({"a": "\udc00"})", 7, "the first half of a surrogate pair"},
      {R"({"a": 1} more)", 9, "the end of the block"},
      {R"({"a": 1)", 7, "',' or '}'"},
      {R"(["a"])", 0, "'{'"},
      {"{\"a\": \"\xff\"}", 7, "valid UTF-8"},
  };
  for (const Case& c : kCases) {
    const BlockJson read = ReadBlockJson(c.text);
    ASSERT_TRUE(read.fault) << c.text;
    EXPECT_EQ(read.fault->offset, c.offset) << c.text;
    EXPECT_EQ(read.fault->expected, c.expected) << c.text;
    EXPECT_TRUE(read.members.empty()) << c.text;
  }
  const std::string deep = "{\"a\": " + std::string(64, '[');
  EXPECT_EQ(ReadBlockJson(deep).fault->expected, "at most 64 levels");
}

TEST(BlockJsonTest, KeepsMembersInTheOrderOfTheTextAndRepeatedOnes) {  // MEM-21
  const BlockJson read = ReadBlockJson(R"( {"b": {"x": 1, "x": 2}, "a": "\u00e9", "b": 3} )");
  ASSERT_FALSE(read.fault);
  ASSERT_EQ(read.members.size(), 3U);
  EXPECT_EQ(read.members[0].first, "b");
  EXPECT_EQ(ToJson(read.members[1].second), "\"é\"");
  EXPECT_EQ(ToJson(read.members[2].second), "3");
  EXPECT_EQ(read.repeated.paths, (std::vector<std::string>{"$.b.x", "$.b"}));
}

// 160 KB of a reply took more than a gigabyte: each path held the long name.
TEST(BlockJsonTest, RepeatedNamesTakeLittleMemory) {  // MEM-21
  std::string text = "{\"" + std::string(60'000, 'n') + "\": {\"\": 1";
  for (int i = 0; i < 20'000; ++i) text += ",\"\":1";
  const BlockJson read = ReadBlockJson(text + "}}");
  ASSERT_FALSE(read.fault);
  ASSERT_EQ(read.repeated.paths.size(), 20U);
  EXPECT_EQ(read.repeated.paths.back(), "$." + std::string(80, 'n') + ".");
  EXPECT_EQ(read.repeated.more, 19'980U);
}

TEST(BlockJsonTest, NothingIsAnEmptyBlock) {  // MEM-22
  for (const std::string_view text : {"", " \n", "{}", " { } "}) {
    const BlockJson read = ReadBlockJson(text);
    EXPECT_FALSE(read.fault) << text;
    EXPECT_TRUE(read.members.empty());
  }
}

TEST(BlockJsonTest, TakesWhatTheJsonReaderTakes) {
  constexpr std::string_view kAlphabet[] = {
      "{", "}",  "[", "]",    ":",    ",", "\"a\"", "\"b\"", "1",       "-",
      ".", "e5", "0", "true", "null", " ", "\\",    "\"",    "\\u00e9", "\\ud83d\\ude00"};
  Random random(/*seed=*/11);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = "{";
    for (std::uint64_t i = random.Below(9); i > 0; --i) {
      text += kAlphabet[random.Below(std::size(kAlphabet))];
    }
    if (random.Below(2) == 0) text += '}';
    EXPECT_EQ(!ReadBlockJson(text).fault, ParseJson(text).has_value()) << text;
  }
}

TEST(BlockJsonTest, PlacesCountCodePoints) {  // MEM-23
  const TextPlace place = PlaceOf("{\n\"é\": x}", 8);
  EXPECT_EQ(place.line, 2U);
  EXPECT_EQ(place.column, 6U);
}

}  // namespace
}  // namespace dossier::memory
