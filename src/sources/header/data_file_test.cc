#include "sources/header/data_file.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::sources {
namespace {

using ::dossier::testing::FailsWith;

std::string ReadEdn(std::string_view text) {
  const auto document = ParseEdn(text, "x.edn");
  return document ? ToJson(document->value) : document.error().message;
}

TEST(EdnTest, TheExampleInTheHeaderWorks) {
  const auto tasks = ParseEdn(R"([{:id "fact-001"}])", "config/tasks.edn");
  ASSERT_TRUE(tasks);
  EXPECT_EQ(tasks->value.as_array().at(0).at("id"), Json("fact-001"));
}

TEST(EdnTest, EveryFormIsRead) {  // A12
  struct Case {
    std::string_view text, json;
  };
  constexpr Case kCases[] = {
      {"", "null"},
      {"nil", "null"},
      {"true", "true"},
      {"false", "false"},
      {"\xef\xbb\xbf[1]", "[1]"},
      {"12", "12"},
      {"-7", "-7"},
      {"+7", "7"},
      {"0", "0"},
      {"42N", "42"},
      {"1.5", "1.5"},
      {"2.5M", "2.5"},
      {"1e3", "1000"},
      {"123456789012345678901", "\"123456789012345678901\""},
      {"123456789012345678901N", "\"123456789012345678901\""},
      {"\"a\\n\\t\\\"\\\\\\u00e9\"", "\"a\\n\\t\\\"\\\\é\""},
      {"\"\\ud83d\\ude00\"", "\"😀\""},
      {"\"\\ud83d\"", "\"\xef\xbf\xbd\""},
      {"\"two\nlines\"", "\"two\\nlines\""},
      {"\\a", "\"a\""},
      {"\\newline", "\"\\n\""},
      {"\\space", "\" \""},
      {"\\u0041", "\"A\""},
      {"\\é", "\"é\""},
      {"[\\( \\)]", "[\"(\",\")\"]"},
      {":key", "\"key\""},
      {":name/space", "\"name/space\""},
      {"symbol.with-dash?", "\"symbol.with-dash?\""},
      {"[-a +a .b - /]", "[\"-a\",\"+a\",\".b\",\"-\",\"/\"]"},
      {"[1, 2,,3]", "[1,2,3]"},
      {"(1 2)", "[1,2]"},
      {"#{1 2}", "[1,2]"},
      {"{:a-b 1 \"c?\" 2 :d? 3 4 5 [6] 7}", "{\"a_b\":1,\"c\":2,\"d\":3,\"4\":5,\"[6]\":7}"},
      {"; a comment\n[1 ; two\n 2]", "[1,2]"},
      {"[1 #_2 3 #_ #_ 4 5]", "[1,3]"},
      {"#_x 1", "1"},
      {"#inst \"2026-01-01T00:00:00Z\"", "\"2026-01-01T00:00:00Z\""},
      {"[1]#_[2]", "[1]"},
  };
  for (const Case& c : kCases) EXPECT_EQ(ReadEdn(c.text), c.json) << c.text;
}

TEST(EdnTest, UnknownTagsAndMoreFormsAreWarnings) {  // A12
  const auto document = ParseEdn("#my/tag {:a 1}\n[2]", "x.edn");
  ASSERT_TRUE(document);
  EXPECT_EQ(ToJson(document->value), "{\"a\":1}");
  EXPECT_EQ(document->warnings, (std::vector<std::string>{"x.edn:1:1: the tag #my/tag is ignored",
                                                          "x.edn:2:1: a second form is ignored"}));
}

TEST(EdnTest, BrokenTextIsRefusedAtItsPlace) {  // A12: twelve and more
  struct Case {
    std::string_view text, message;
  };
  constexpr Case kCases[] = {
      {"[1 2", "x.edn:1:1: [ is never closed"},
      {"{:a 1", "x.edn:1:1: { is never closed"},
      {"#{1", "x.edn:1:1: #{ is never closed"},
      {"[1)", "x.edn:1:3: ) where ] was expected"},
      {"\n ]", "x.edn:2:2: ] closes nothing"},
      {"{:a 1 :b}", "x.edn:1:7: key b has no value"},
      {"{:a 1 :a 2}", "x.edn:1:7: duplicate key a"},
      {"{:a-b 1 :a_b 2}", "x.edn:1:9: duplicate key a_b"},
      {"#{1 1}", "x.edn:1:1: 1 stands twice in a set"},
      {"\"abc", "x.edn:1:1: \" is never closed"},
      {"\"a\\q\"", "x.edn:1:3: unknown escape in a string"},
      {"\"\\u12x4\"", "x.edn:1:2: \\u needs four hex digits"},
      {"\\nosuch", "x.edn:1:1: unknown character \\nosuch"},
      {"007", "x.edn:1:1: 007 is no number"},
      {"1/2", "x.edn:1:1: 1/2 is no number"},
      {"1.5N", "x.edn:1:1: 1.5N is no number"},
      {"[é @x]", "x.edn:1:4: @x is no form of EDN"},
      {":", "x.edn:1:1: : is no form of EDN"},
      {"[1 #_]", "x.edn:1:4: #_ discards nothing"},
      {"[#t]", "x.edn:1:2: #t tags nothing"},
      {"##Inf", "x.edn:1:1: # begins no form"},
  };
  for (const Case& c : kCases) EXPECT_EQ(ReadEdn(c.text), c.message) << c.text;
}

TEST(EdnTest, DepthAndSizeHaveLimits) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_TRUE(ParseEdn(nested(64), "x.edn"));
  EXPECT_THAT(ParseEdn(nested(100'000), "x.edn"),
              FailsWith(ErrorCode::kConfig, "nested deeper than 64"));
  std::string discards, tags;
  for (int i = 0; i < 100'000; ++i) {
    discards += "#_";
    tags += "#a ";
  }
  EXPECT_THAT(ParseEdn(discards, "x.edn"), FailsWith(ErrorCode::kConfig, "deeper than 64"));
  EXPECT_THAT(ParseEdn(tags + "1", "x.edn"), FailsWith(ErrorCode::kConfig, "deeper than 64"));
  EXPECT_THAT(ParseEdn(std::string(kMaxEdnBytes + 1, ' '), "x.edn"),
              FailsWith(ErrorCode::kConfig, "16 MiB"));
  // Each level would double the text of a key.
  std::string keys = "{\"a\" 1}";
  for (int i = 0; i < 16; ++i) keys = "{" + keys + " 1}";
  EXPECT_THAT(ParseEdn(keys, "x.edn"), FailsWith(ErrorCode::kConfig, "more than 4096 bytes"));
}

// Writes a value as EDN in one of several equivalent ways.
std::string Write(Random& random, const Json& value) {
  const std::string blank = random.Below(2) ? " ; a comment\n" : ", ";
  if (const auto* list = value.if_array()) {
    std::string out = "[";
    for (const Json& item : *list) out += Write(random, item) + blank;
    return out + "]";
  }
  if (const auto* map = value.if_object()) {
    std::string out = "{";
    for (const auto& [key, inner] : *map) {
      out += fmt::format(":{} {}{}", std::string_view(key), Write(random, inner), blank);
    }
    return out + "}";
  }
  return value.is_null() ? "nil" : ToJson(value);
}

Json RandomValue(Random& random, int depth) {
  switch (random.Below(depth > 0 ? 6 : 4)) {
    case 0:
      return nullptr;
    case 1:
      return static_cast<std::int64_t>(random.Next() >> random.Below(64));
    case 2:
      return random.Below(2) == 1;
    case 3:
      return Json(random.Utf8(30));
    case 4: {
      JsonArray list;
      for (std::uint64_t i = random.Below(4); i > 0; --i) {
        list.push_back(RandomValue(random, depth - 1));
      }
      return list;
    }
    default: {
      JsonObject map;
      for (std::uint64_t i = random.Below(4); i > 0; --i) {
        map[fmt::format("k{}", i)] = RandomValue(random, depth - 1);
      }
      return map;
    }
  }
}

TEST(EdnTest, WhatIsWrittenIsReadBack) {
  Random random(3);
  for (int round = 0; round < 2'000; ++round) {
    const Json value = RandomValue(random, 5);
    const std::string text = Write(random, value);
    EXPECT_EQ(ReadEdn(text), ToJson(value)) << text;
  }
}

TEST(EdnTest, NoTextBreaksTheReader) {
  Random random(4);
  constexpr std::string_view kParts[] = {"[",  "]",  "{", "}", "#{", "(", ")",   "#_", "\"",
                                         "\\", ":",  "a", "1", "-",  "N", "M",   ".",  " ",
                                         ";",  "\n", "#", "u", "00", "é", "\xff"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(12); i > 0; --i) {
      text += kParts[random.Below(std::size(kParts))];
    }
    const auto read = ParseEdn(text, "x.edn");
    EXPECT_TRUE(read || read.error().message.starts_with("x.edn:")) << text;
  }
}

TEST(DataFileTest, ThreeNotationsGiveOneForm) {  // A12
  constexpr std::string_view kJson = R"([{"id":"a","max_files":1,"list":["x","y"],"no":null}])";
  const auto edn = ParseData("[{:id \"a\" :max-files 1 :list [\"x\" \"y\"] :no nil}]", "a.edn");
  const auto yaml = ParseData("- id: a\n  max-files: 1\n  list: [x, y]\n  no: null\n", "a.yaml");
  const auto json = ParseData(R"([{"id":"a","max-files":1,"list":["x","y"],"no":null}])", "a.json");
  for (const auto* data : {&edn, &yaml, &json}) {
    ASSERT_TRUE(*data) << (*data).error().message;
    EXPECT_EQ(ToJson((*data)->value), kJson);
  }
}

// Each key was compared with all before it: more than a minute here.
TEST(DataFileTest, AMapMayHaveManyKeys) {
  std::string text;
  for (int i = 0; i < 80'000; ++i) text += fmt::format("k{}: 1\n", i);
  const auto begun = std::chrono::steady_clock::now();
  const auto data = ParseData(text, "a.yaml");
  ASSERT_TRUE(data);
  EXPECT_EQ(data->value.as_object().size(), 80'000u);
  EXPECT_THAT(ParseData(text + "k7: 2\n", "a.yaml"),
              FailsWith(ErrorCode::kConfig, "a.yaml:80001:1: duplicate key k7 (first on line 8)"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(15));
}

TEST(DataFileTest, BrokenFilesAreNamedWithTheirPlace) {
  EXPECT_THAT(ParseData("{\n  \"a\": }", "a.json"), FailsWith(ErrorCode::kConfig, "a.json:2:"));
  EXPECT_THAT(ParseData("a: [", "a.yaml"), FailsWith(ErrorCode::kConfig, "a.yaml:"));
  EXPECT_THAT(ParseData("a: 1\na: 2", "a.yaml"), FailsWith(ErrorCode::kConfig, "duplicate key"));
  EXPECT_THAT(ParseData("{\"a-b\":1,\"a_b\":2}", "a.json"),
              FailsWith(ErrorCode::kConfig, "duplicate key a_b"));
  EXPECT_THAT(ParseData("x", "a.txt"), FailsWith(ErrorCode::kConfig, ".edn, .yaml"));
  EXPECT_THAT(ReadDataFile("/", "no/such.edn"), FailsWith(ErrorCode::kConfig, "no such file"));
}

TEST(EdnTest, ManyWarningsAreCounted) {
  std::string text = "[";
  for (int i = 0; i < 200'000; ++i) text += "#a 1\n";
  const auto document = ParseEdn(text + "]", "x.edn");
  ASSERT_TRUE(document);
  ASSERT_EQ(document->warnings.size(), kMaxEdnWarnings + 1);
  EXPECT_EQ(document->warnings.back(), "x.edn: 199980 more warnings");
}

}  // namespace
}  // namespace dossier::sources
