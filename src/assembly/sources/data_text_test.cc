#include "assembly/sources/data_text.h"

#include <gtest/gtest.h>

#include "assembly/layout/yaml_table.h"
#include "base/random.h"
#include "base/yaml/yaml.h"
#include "testing/test_prompts.h"

namespace dossier::assembly {
namespace {

using ::dossier::testing::Succeeds;

TEST(RenderYamlTest, DataBecomesBlockYaml) {  // ASM-6
  struct Case {
    std::string_view json, yaml;
  };
  constexpr Case kCases[] = {
      {R"({"Task":"Do it ","Limits":{"time":5,"tags":["a","b"]}})",
       "Task: \"Do it \"\nLimits:\n  time: 5\n  tags:\n    - a\n    - b\n"},
      {R"({"a":true,"b":1.5,"c":null,"d":"","e":[],"f":{},"g":5.0,"h":1e300})",
       "a: true\nb: 1.5\nc: null\nd: \"\"\ne: []\nf: {}\ng: 5.0\nh: 1.0e+300\n"},
      {R"({"a":"yes","b":"12","c":"a: b","d":"# x","e":"- y","f":"Null","g":"1e3"})",
       "a: \"yes\"\nb: \"12\"\nc: \"a: b\"\nd: \"# x\"\ne: \"- y\"\nf: \"Null\"\ng: \"1e3\"\n"},
      {R"([{"x":1,"v":[2,[3]]},"z",[[]]])", "- x: 1\n  v:\n    - 2\n    - - 3\n- z\n- - []\n"},
      {R"({"code":"if a:\n  b\n\nc\n","note":"one\ntwo"})",
       "code: |\n  if a:\n    b\n\n  c\nnote: |-\n  one\n  two\n"},
      {R"({"a key":1,"true":2,"":3})", "a key: 1\n\"true\": 2\n\"\": 3\n"},
      {R"("one\ntwo")", "|-\n  one\n  two\n"},
      {"7", "7\n"},
      {"{}", "{}\n"},
  };
  for (const Case& c : kCases) EXPECT_EQ(RenderYaml(*ParseJson(c.json)), c.yaml) << c.json;
}

// A value of any kind, with strings that are hard to write down.
Json RandomValue(Random& random, int depth) {
  static const std::vector<std::string> kPieces = {"a",
                                                   "Z",
                                                   "0",
                                                   "9",
                                                   " ",
                                                   "  ",
                                                   "\n",
                                                   "\t",
                                                   ":",
                                                   ": ",
                                                   " #",
                                                   "-",
                                                   "- ",
                                                   "?",
                                                   "\"",
                                                   "'",
                                                   "\\",
                                                   "{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   ",",
                                                   "|",
                                                   ">",
                                                   "&",
                                                   "*",
                                                   "!",
                                                   "%",
                                                   "@",
                                                   "`",
                                                   "true",
                                                   "null",
                                                   "~",
                                                   "1e3",
                                                   "0x1F",
                                                   ".5",
                                                   "---",
                                                   "...",
                                                   "é",
                                                   "世",
                                                   "😀",
                                                   "\xc2\x85",
                                                   "\xe2\x80\xa8",
                                                   "\xef\xbb\xbf",
                                                   "\x01",
                                                   "\x7f",
                                                   "\r",
                                                   "\r\n"};
  const auto text = [&] {
    std::string out;
    for (std::uint64_t i = random.Below(6); i > 0; --i)
      out += kPieces[random.Below(kPieces.size())];
    return out;
  };
  switch (random.Below(depth > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return random.Below(2) == 0;
    case 2:
      return static_cast<std::int64_t>(random.Below(2000)) - 1000;
    case 3:
      return (static_cast<double>(random.Below(2000)) - 1000) / 8;
    case 6: {
      JsonObject map;
      for (std::uint64_t i = random.Below(5); i > 0; --i) {
        map[text()] = RandomValue(random, depth - 1);
      }
      return map;
    }
    case 7: {
      JsonArray list;
      for (std::uint64_t i = random.Below(5); i > 0; --i) {
        list.push_back(RandomValue(random, depth - 1));
      }
      return list;
    }
    default:
      return Json(text());
  }
}

TEST(RenderYamlTest, AReaderGetsTheSameDataBack) {  // ASM-6
  Random random(/*seed=*/11);
  for (int round = 0; round < 5000; ++round) {
    const Json data = JsonObject{{"data", RandomValue(random, 4)}};
    const std::string yaml = RenderYaml(data);
    const auto read = ReadYaml(yaml, "data.yaml");
    ASSERT_THAT(read, Succeeds()) << ToJson(data) << "\n" << yaml;
    ASSERT_EQ(ToJson(ToJsonValue(*read)), ToJson(data)) << yaml;
  }
}

TEST(RenderYamlTest, ALongKeyIsStillAKey) {  // ASM-6
  const Json data = JsonObject{{std::string(3000, 'k'), JsonObject{{"a", 1}}}};
  const auto read = ReadYaml(RenderYaml(data), "data.yaml");
  ASSERT_THAT(read, Succeeds()) << RenderYaml(data);
  EXPECT_EQ(ToJson(ToJsonValue(*read)), ToJson(data));
}

TEST(RenderYamlTest, ALayoutAsksForIt) {  // ASM-6, ASM-10
  const Layout layout = Parse(
      "sections: [{name: d, zone: stable, source: data, render: yaml}, "
      "{name: q, zone: request, text: Hi}]");
  const std::vector<Section> sections = {
      {.name = "d", .data = JsonObject{{"Task", "Do it"}, {"gap", nullptr}}}};
  const auto prompt =
      Assemble(layout, sections, {}, Plain(), *tokens::MakeCharCounter(), Options());
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(prompt->messages.turns[0].Text(), "Task: Do it\ngap: null\n\nHi");
  EXPECT_TRUE(Find(prompt->report, "warnings")->get_array().empty()) << "nothing is left out";
}

}  // namespace
}  // namespace dossier::assembly
