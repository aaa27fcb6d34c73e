#include "inspect/json/json_machine.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstring>

#include "base/random.h"
#include "base/text/utf8.h"

namespace dossier::inspect {
namespace {

// Returns true if the whole text is one JSON value, fed in pieces of `piece` bytes.
bool IsOneValue(std::string_view text, std::size_t piece) {
  JsonMachine machine;
  bool done = false;
  for (std::size_t from = 0; from < text.size(); from += piece) {
    const std::string part(text.substr(from, piece));
    const char* at = part.data();
    const char* const end = at + part.size();
    if (!done) {
      const JsonOutcome outcome = machine.Feed(&at, end);
      if (outcome == JsonOutcome::kFault) return false;
      done = outcome == JsonOutcome::kDone;
    }
    if (done && std::any_of(at, end, [](char c) { return !strchr(" \t\r\n", c) || c == 0; })) {
      return false;
    }
  }
  return done || machine.Finish() == JsonOutcome::kDone;
}

TEST(JsonMachineTest, TakesExactlyTheValuesOfRfc8259) {  // INS-50
  constexpr std::string_view kValid[] = {
      "{}",
      "[]",
      " {\"a\":1} ",
      "[1,2,3]",
      "\"\"",
      "\"\\u00e9\\n\\/\"",
      "0",
      "-0",
      "12.5e+3",
      "1E9",
      "true",
      "false",
      "null",
      "[[],{},[{}]]",
      "{\"\":null}",
      "\"\x7F\u00e9\"",
      "{\"a\":{\"b\":[1,{\"c\":\"}\"}]}}",
      "-0.0",
      "\t\r\n1\n",
      "\"\\ud800\"",
      "NaN",  // FLT-20
      "-Infinity",
      "{\"a\":[Infinity,-Infinity,NaN]}",
  };
  constexpr std::string_view kInvalid[] = {
      "",        " ",         "{",          "[",           "]",         "{]",
      "[}",      "[1,]",      "{\"a\":1,}", "{\"a\"}",     "{\"a\":}",  "{a:1}",
      "{'a':1}", "[1 2]",     "01",         "-",           "1.",        ".5",
      "1e",      "1e+",       "+1",         "0x1",         "tru",       "trux",
      "nul",     "\"",        "\"\\x\"",    "\"\\u12g4\"", "\"a\nb\"",  "\"\t\"",
      "1 2",     "{} {}",     "[1]]",       "NAN",         "Nan",       "NaNs",
      "Infinit", "+Infinity", "-NaN",       "--Infinity",  "// c\n1",   "{\"a\":1 \"b\":2}",
      "[,1]",    "{,}",       "-01",        "00",          "[not json",
  };
  for (std::size_t piece : {1000, 1, 2, 7}) {
    for (std::string_view text : kValid) EXPECT_TRUE(IsOneValue(text, piece)) << text;
    for (std::string_view text : kInvalid) EXPECT_FALSE(IsOneValue(text, piece)) << text;
  }
}

TEST(JsonMachineTest, NestingEndsAt1024Levels) {  // INS-58, INS-T7
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_TRUE(IsOneValue(nested(1024), 100));
  EXPECT_FALSE(IsOneValue(nested(1025), 100));
  JsonMachine machine;
  const std::string deep(5000, '[');
  const char* at = deep.data();
  EXPECT_EQ(machine.Feed(&at, at + deep.size()), JsonOutcome::kFault);
  EXPECT_EQ(machine.fault(), JsonFault::kTooDeep);
  EXPECT_EQ(at - deep.data(), 1024);
}

TEST(JsonMachineTest, AFaultIsFoundAtItsByte) {
  struct Case {
    std::string_view text;
    JsonFault fault;
    int offset;
  };
  constexpr Case kCases[] = {
      {"{\"a\" 1}", JsonFault::kNoColon, 5},   {"[1 2]", JsonFault::kNoComma, 3},
      {"{1:2}", JsonFault::kNoKey, 1},         {"[?]", JsonFault::kNoValue, 1},
      {"[\"\\q\"]", JsonFault::kBadEscape, 3}, {"[\"\x01\"]", JsonFault::kControl, 2},
      {"[1.x]", JsonFault::kBadNumber, 3},     {"[trUe]", JsonFault::kBadLiteral, 3},
  };
  for (const Case& c : kCases) {
    JsonMachine machine;
    const char* at = c.text.data();
    EXPECT_EQ(machine.Feed(&at, at + c.text.size()), JsonOutcome::kFault);
    EXPECT_EQ(machine.fault(), c.fault) << c.text;
    EXPECT_EQ(at - c.text.data(), c.offset) << c.text;
  }
}

// A random JSON text that simdjson and RFC 8259 agree on: no huge numbers, no lone surrogates.
std::string MakeValue(Random& random, int depth) {
  constexpr std::string_view kScalars[] = {
      "0", "-1.5e3", "12", "true", "null", "\"\"", "\"x\"", "\"\\n\\\"\"", "false", "\"é\\u0041\""};
  if (depth == 0 || random.Below(3) == 0) return std::string(kScalars[random.Below(10)]);
  const bool object = random.Below(2) == 0;
  std::string text(object ? "{" : "[");
  for (std::uint64_t i = random.Below(4); i > 0; --i) {
    if (object) text += "\"k" + std::to_string(i) + "\":";
    text += MakeValue(random, depth - 1);
    if (i > 1) text += random.Below(2) == 0 ? "," : " ,\n ";
  }
  return text + (object ? "}" : "]");
}

TEST(JsonMachineTest, AgreesWithSimdjsonOnValidAndBrokenTexts) {  // INS-T7
  Random random(41);
  simdjson::dom::parser parser;
  int broken = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = MakeValue(random, 4);
    if (round % 2 == 1) {
      constexpr std::string_view kNoise = "{}[],:\"\\0-etn \n";
      text[random.Below(text.size())] = kNoise[random.Below(kNoise.size())];
    }
    if (!utf8::IsValid(text)) continue;  // the encoding is judged elsewhere
    const bool expected = parser.parse(simdjson::padded_string(text)).error() == simdjson::SUCCESS;
    broken += expected ? 0 : 1;
    ASSERT_EQ(IsOneValue(text, text.size()), expected) << text;
    ASSERT_EQ(IsOneValue(text, 1 + random.Below(5)), expected) << text;
  }
  EXPECT_GT(broken, 500);
}

struct Recorder : JsonEvents {
  std::string log;
  void OnBegin(JsonKind kind, int depth) override {
    log += fmt::format("{}{}", kind == JsonKind::kObject ? '{' : '[', depth);
  }
  void OnEnd(JsonKind kind, int depth) override {
    log += fmt::format("{}{}", kind == JsonKind::kObject ? '}' : ']', depth);
  }
  void OnKey(std::string_view raw, int depth) override { log += fmt::format("{}{}:", raw, depth); }
  void OnScalar(JsonKind, std::string_view raw, std::uint64_t, int depth) override {
    log += fmt::format("{}@{}", raw, depth);
  }
};

TEST(JsonMachineTest, EventsComeForTheUpperLevelsWhateverTheSplit) {
  const std::string text = R"({"a":[1,{"deep":true}],"b":"x\ny","c":{"d":null}})";
  for (std::size_t piece : {100, 1, 3}) {
    Recorder recorder;
    JsonMachine machine;
    machine.SetEvents(&recorder, 1);
    for (std::size_t from = 0; from < text.size(); from += piece) {
      const std::string part = text.substr(from, piece);
      const char* at = part.data();
      machine.Feed(&at, at + part.size());
    }
    EXPECT_EQ(recorder.log, "{0a1:[1]1b1:x\\ny@1c1:{1}1}0");
  }
}

TEST(JsonMachineTest, CapturesTheFirstElementAndCountsAllOfThem) {  // INS-50, INS-74
  const std::string text = R"([ {"a" : 1} , 2,"é", [3], null,true])";
  for (std::size_t piece : {100, 1, 5}) {
    JsonCapture capture;
    JsonMachine machine;
    machine.CountAt(1);
    machine.CaptureAt(1, &capture);
    for (std::size_t from = 0; from < text.size(); from += piece) {
      const std::string part = text.substr(from, piece);
      const char* at = part.data();
      machine.Feed(&at, at + part.size());
    }
    EXPECT_EQ(capture.text, R"({"a" : 1})");
    EXPECT_EQ(capture.spaces, 2u);
    EXPECT_EQ(capture.chars, 9u);
    EXPECT_TRUE(capture.complete);
    EXPECT_EQ(machine.counted(), 6u);
    EXPECT_EQ(machine.counted(JsonKind::kObject), 1u);
  }
}

}  // namespace
}  // namespace dossier::inspect
