#include "research/files/relaxed_json.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;

TEST(RelaxedJsonTest, PythonsLiteralsAreTakenAndToldOf) {  // RSP-9, RSP-T5
  struct Case {
    std::string_view text, json;
  };
  const Case cases[] = {
      {"{'a': True, 'b': False, 'c': None}", R"({"a":true,"b":false,"c":null})"},
      {"{'a': [1, 2,],}", R"({"a":[1,2]})"},
      {"{\"a\": 1, # why\n \"b\": 2}", R"({"a":1,"b":2})"},
      {"{\"a\": 1, // why\n /* and */ \"b\": 2}", R"({"a":1,"b":2})"},
      {"('x', 'y')", R"(["x","y"])"},
      {R"({'a': 'it\'s', 'b': "say \"so\""})", R"({"a":"it's","b":"say \"so\""})"},
      {"{'code': '''int main() {\n  return 0;\n}\n'''}",
       R"({"code":"int main() {\n  return 0;\n}\n"})"},
      {"{\"a\": \"two\nlines\"}", R"({"a":"two\nlines"})"},
      {R"({'a': '\u00e4\x41\U0001F600\ud83d\ude00\q'})", R"({"a":"äA😀😀\\q"})"},
      {"{'a': -1.5e3, 'b': 12}", R"({"a":-1500,"b":12})"},
      {"{'a': 'one \\\nline'}", R"({"a":"one line"})"},
  };
  for (const Case& c : cases) {
    const auto read = ParseRelaxedJson(c.text);
    ASSERT_TRUE(read) << c.text << ": " << read.error().message;
    EXPECT_EQ(ToJson(read->value), ToJson(*ParseJson(c.json))) << c.text;
    EXPECT_EQ(read->repaired, RelaxedJson::Repaired::kYes) << c.text;
  }
}

TEST(RelaxedJsonTest, JsonIsNotRepaired) {
  const auto read = ParseRelaxedJson(R"( {"a": ["\n", 1.5, null]} )");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->repaired, RelaxedJson::Repaired::kNo);
}

TEST(RelaxedJsonTest, AFaultIsNamedWithItsPlace) {
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"", "line 1, column 1: expected a value"},
      {"{'a': 1", "expected ',' or '}'"},
      {"{'a' 1}", "line 1, column 6: expected ':'"},
      {"{a: 1}", "expected a name in quotes"},
      {"{'a':\n nonsense}", "line 2, column 2: expected a value; text stands in quotes"},
      {"{'a': 'open", "expected the closing '"},
      {"{'a': 1} x", "expected the end of the text"},
      {"{'a': '\\u12'}", "expected 4 hex digits"},
      {"{'a': 1e999}", "expected a value"},
      {"[/* open", "expected a comment that ends"},
      {std::string(100, '['), "expected at most 64 levels"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(ParseRelaxedJson(c.text), FailsWith(ErrorCode::kInvalidArgument, c.message));
  }
}

TEST(RelaxedJsonTest, WhateverComesEndsAndWhatIsReadIsJson) {
  constexpr std::string_view kPieces[] = {"{", "}", "[", "]", "'", "\"", "\\", ":",  ",",
                                          "#", "/", "*", "a", "1", "\n", "u",  "''", "True"};
  Random random(/*seed=*/3);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(12); i > 0; --i) {
      text += kPieces[random.Below(std::size(kPieces))];
    }
    const auto read = ParseRelaxedJson(text);
    if (read) {
      EXPECT_TRUE(ParseJson(ToJson(read->value), 200)) << text;
    }
  }
}

}  // namespace
}  // namespace dossier::research
