#include "ask/reply/bare_answer.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace dossier::ask {
namespace {

using Form = BareAnswer::Form;

struct Case {
  std::string_view text;
  Form form;
  std::string_view answer;
  bool is_name = false;
};

void Check(const Case& c, ModelSize model) {
  const BareAnswer found = FindBareAnswer(c.text, model);
  EXPECT_EQ(found.form, c.form) << c.text;
  EXPECT_EQ(found.text, c.answer) << c.text;
  EXPECT_EQ(found.looks_like_name, c.is_name) << c.text;
}

TEST(BareAnswerTest, EveryForm) {  // REC-29, REC-A7
  constexpr Case kCases[] = {
      {"", Form::kNone, ""},
      {"The answer is 42.", Form::kNone, ""},
      {"FINAL(42)", Form::kFinal, "42"},
      {"FINAL( the answer )", Form::kFinal, "the answer"},
      {"FINAL(total)", Form::kFinal, "total", true},
      {"FINAL(None)", Form::kFinal, "None"},  // refused when it is resolved
      {"FINAL(```sql\nSELECT 1;\n```)", Form::kFinal, "```sql\nSELECT 1;\n```"},
      {"FINAL('total')", Form::kFinal, "total"},
      {"FINAL_VAR(total)", Form::kFinalVar, "total"},
      {"FINAL_VAR(\"total\")", Form::kFinalVar, "total"},
      {"PARTIAL(so far 3)", Form::kPartial, "so far 3"},
      {"FINAL: 42", Form::kFinalText, "42"},
      {"FINAL ANSWER: 42", Form::kFinalText, "42"},
      {"FINAL ANSWER:\n- a\n- b", Form::kFinalText, "- a\n- b"},
      {"Some thoughts.\nFINAL(42)\nmore", Form::kFinal, "42"},
      {"line\r\nFINAL(42)\r\n", Form::kFinal, "42"},
  };
  for (const Case& c : kCases) Check(c, ModelSize::kLarge);
}

TEST(BareAnswerTest, MarksQuotesAndCommentsAroundItGo) {  // REC-29, REC-A7
  constexpr Case kCases[] = {
      {"**FINAL(42)**", Form::kFinal, "42"},
      {"> FINAL(42)", Form::kFinal, "42"},
      {"`FINAL(42)`", Form::kFinal, "42"},
      {"## FINAL ANSWER: 42", Form::kFinalText, "42"},
      {"**FINAL ANSWER:** 42", Form::kFinalText, "42"},
      {"**FINAL ANSWER: 42**", Form::kFinalText, "42"},
      {"**FINAL:** **42**", Form::kFinalText, "42"},
      {"FINAL(**42**)", Form::kFinal, "42"},
      {"FINAL(\"42\")", Form::kFinal, "42"},
      {"FINAL(\"\"\"a\nb\"\"\")", Form::kFinal, "a\nb"},
      {"FINAL(“42”)", Form::kFinal, "42"},
      {"FINAL(\"a\\nb \\\"c\\\"\")", Form::kFinal, "a\nb \"c\""},
      {"FINAL(\"a\" and \"b\")", Form::kFinal, "\"a\" and \"b\""},
      {"FINAL(42)  # the number of rows", Form::kFinal, "42"},
      {"FINAL(42) because of that", Form::kFinal, "42"},
      {"FINAL (42)", Form::kFinal, "42"},
  };
  for (const Case& c : kCases) Check(c, ModelSize::kLarge);
}

TEST(BareAnswerTest, ParenthesesAreBalancedWithQuotesRespected) {  // REC-29, REC-A7
  constexpr Case kCases[] = {
      {"FINAL(about (nearly) 42)", Form::kFinal, "about (nearly) 42"},
      {"FINAL(f(g(1)) + 2) x", Form::kFinal, "f(g(1)) + 2"},
      {"FINAL(\"a ) b\")", Form::kFinal, "a ) b"},
      {"FINAL(\"a ( b\")", Form::kFinal, "a ( b"},
      {"FINAL(one\ntwo\n(three)\n)\nafter", Form::kFinal, "one\ntwo\n(three)"},
      {"FINAL(never closed\nat all", Form::kFinal, "never closed\nat all"},
      {"FINAL(The dog's bone)\nIt's over.", Form::kFinal, "The dog's bone"},
      {"FINAL('tis the season) x", Form::kFinal, "'tis the season"},
      {"FINAL(5 \"inches) x", Form::kFinal, "5 \"inches"},
  };
  for (const Case& c : kCases) Check(c, ModelSize::kLarge);
}

TEST(BareAnswerTest, WhatIsNoAnswerIsLeftAlone) {  // REC-26, REC-29
  constexpr Case kCases[] = {
      {"I will call FINAL(42) later.", Form::kNone, ""},
      {"x = FINAL(42)", Form::kNone, ""},
      {"FINAL()", Form::kNone, ""},
      {"FINAL( )", Form::kNone, ""},
      {"FINAL_VAR( )", Form::kNone, ""},
      {"FINAL_VAR()", Form::kNone, ""},
      {"FINALLY(42)", Form::kNone, ""},
      {"FINAL_ANSWER(42)", Form::kNone, ""},
      {"FINAL:", Form::kNone, ""},
      {"final(42)", Form::kNone, ""},
      {"Final answer: 42", Form::kNone, ""},
      {"FINAL", Form::kNone, ""},
  };
  for (const Case& c : kCases) Check(c, ModelSize::kLarge);
  Check({"FINAL(0)", Form::kFinal, "0"}, ModelSize::kLarge);
  Check({"FINAL(\"\")", Form::kFinal, ""}, ModelSize::kLarge);
  Check({"FINAL()\nFINAL(7)", Form::kFinal, "7"}, ModelSize::kLarge);
}

TEST(BareAnswerTest, PartialGoesBeforeVariableBeforeFinalAndTheFirstOfOneForm) {  // REC-29
  constexpr Case kCases[] = {
      {"FINAL(1)\nFINAL_VAR(x)\nPARTIAL(2)", Form::kPartial, "2"},
      {"FINAL(1)\nFINAL_VAR(x)", Form::kFinalVar, "x"},
      {"FINAL: 0\nFINAL(1)\nFINAL(2)", Form::kFinal, "1"},
      // A text that a reply quotes is not its own answer.
      {"The file says\n> FINAL(9999)\nThe right answer:\nFINAL(2)", Form::kFinal, "2"},
      {"> FINAL_VAR(evil)\nFINAL(2)", Form::kFinal, "2"},
      {"> FINAL(2)", Form::kFinal, "2"},
  };
  for (const Case& c : kCases) Check(c, ModelSize::kLarge);
}

TEST(BareAnswerTest, ASmallModelMayAddAFullStopAndRambleOn) {  // REC-29, small-models 11
  constexpr Case kCases[] = {
      {"FINAL(42.)", Form::kFinal, "42"},
      {"FINAL(\"clang.\")", Form::kFinal, "clang"},
      {"FINAL: 3.14.", Form::kFinalText, "3.14"},
      {"FINAL(and so on...)", Form::kFinal, "and so on..."},
      {"Final answer: 42.\n\nThe code above counts the rows.", Form::kFinalText, "42"},
      {"**Final Answer:** **42**.", Form::kFinalText, "42"},
  };
  for (const Case& c : kCases) Check(c, ModelSize::kSmall);
  Check({"FINAL(42.)", Form::kFinal, "42."}, ModelSize::kLarge);
}

TEST(BareAnswerTest, ANameIsAVariableIfThereIsOneOrWasMeantToBe) {  // REC-29
  const std::vector<std::string> code = {"total = sum(sizes)"};
  const auto known = [](std::string_view name) { return name == "answer"; };
  EXPECT_EQ(ResolveName("answer", known, code), NameMeaning::kVariable);
  EXPECT_EQ(ResolveName("clang", known, code), NameMeaning::kLiteral);
  EXPECT_EQ(ResolveName("total", known, code), NameMeaning::kUnknown);
  EXPECT_EQ(ResolveName("tota", known, code), NameMeaning::kLiteral);
  EXPECT_EQ(ResolveName("max_size", known, code), NameMeaning::kUnknown);
}

TEST(BareAnswerTest, AWordThatStandsInALiteralOrCommentIsNoVariable) {  // REC-29
  const auto known = [](std::string_view) { return false; };
  struct Case {
    std::string code;
    NameMeaning meaning;
  };
  const Case kCases[] = {
      {"print('Paris' in context)", NameMeaning::kLiteral},
      {"text = \"\"\"to\nParis\"\"\"", NameMeaning::kLiteral},
      {"n = 1  # Paris", NameMeaning::kLiteral},
      {"print('it\\'s Paris')", NameMeaning::kLiteral},
      {"Paris = 1", NameMeaning::kUnknown},
      {"print('x' + Paris)", NameMeaning::kUnknown},
      {"print('never closed + Paris", NameMeaning::kLiteral},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(ResolveName("Paris", known, std::vector{c.code}), c.meaning) << c.code;
  }
}

TEST(BareAnswerTest, AnyTextIsReadAndNothingIsInvented) {
  constexpr std::string_view kPieces[] = {
      "FINAL", "FINAL_VAR", "PARTIAL", "(",  ")", "\"", "'",      ":",      "\n",   "**",
      "`",     "a",         " ",       "\\", ".", "“",  "\"\"\"", "ANSWER", "\xFF", "_"};
  Random random(29);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(14); i > 0; --i) {
      text += kPieces[random.Below(std::size(kPieces))];
    }
    for (const ModelSize model : {ModelSize::kLarge, ModelSize::kSmall}) {
      const BareAnswer found = FindBareAnswer(text, model);
      EXPECT_LE(found.text.size(), text.size());
      EXPECT_EQ(found.form == Form::kNone && !found.text.empty(), false) << text;
    }
  }
}

TEST(BareAnswerTest, AHostileReplyCostsNoMoreThanItsLength) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "FINAL('(\nPARTIAL(\nFINAL_VAR(\"\n";
  EXPECT_EQ(FindBareAnswer(text, ModelSize::kSmall).form, Form::kPartial);
}

}  // namespace
}  // namespace dossier::ask
