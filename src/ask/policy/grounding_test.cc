#include "ask/policy/grounding.h"

#include <gtest/gtest.h>

#include <functional>

#include "ask/claims/reckoning.h"
#include "base/random.h"

namespace dossier::ask {
namespace {

struct Case {
  std::string_view answer, printed;
  bool grounded;
  std::string_view missing = "";
};

void Check(const Case& c, std::string_view question, std::vector<std::string> hint_values = {}) {
  const std::vector<std::string> printed = {"Out: nothing of note\n", std::string(c.printed)};
  const Grounding found = CheckGrounded(c.answer, question, hint_values, printed);
  EXPECT_EQ(found.grounded, c.grounded) << c.answer << " on " << c.printed;
  EXPECT_EQ(found.missing, c.missing) << c.answer << " on " << c.printed;
}

TEST(GroundingTest, NumbersAreComparedByValue) {  // REC-40
  constexpr Case kCases[] = {
      {"42", "total 42", true},
      {"42", "total 41", false, "42"},
      {"It is 3,800.", "3800", true},
      {"3800", "3,800", true},
      {"3_800", "3800.0", true},
      {"12.50", "12.5", true},
      {"007", "7", true},
      {"8", "08", true},
      {"-5", "-5", true},
      {"-5", "5", false, "5"},
      {"between 3-5", "3 5", true},
      {"3.14", "3.14159", true},
      {"3.15", "3.14159", false, "3.15"},
      {"2.7", "2.6789", true},
      {"10.0", "9.996", true},
      {"About 2504 hours", "2504.268", true},
      {"2503", "2503.5", false, "2503"},
      {"2504", "2503.5", true},
      {"3.5 %", "0.03525", true},
      {"3.5", "0.03525", false, "3.5"},
      {"4%", "0.03525", true},
      {"12.5%", "0.125", true},
      {"3.6 %", "0.03525", false, "3.6"},
      {"9.1", "9.05", true},
      {"3.14159", "3.14", false, "3.14159"},
      {"1,234,567 rows", "1234567", true},
      {"1234", "12 34", false, "1234"},
      {"42%", "42.0", true},
      {"10GB", "10", true},
      {"the 3rd", "3", true},
      {"2026-11-21", "2026-11-21T23:36", true},
      {"2026-11-22", "2026-11-21T23:36", false, "22"},
      {"1.2.3", "version 1.2.3", true},
      {"clang", "gcc", true},
      {"no digits here", "", true},
      {"Q3 and libmpc3", "", true},
      {"7714", "金库用7714打开", true},
      {"用7715打开", "金库用7714打开", false, "7715"},
      {"They are:\n1. a\n2. b", "a b", true},
      {"0", "0.00", true},
  };
  for (const Case& c : kCases) Check(c, "Which one?");
}

TEST(GroundingTest, SignsBesideANumberHideNothing) {  // FLT-36
  const std::vector<std::string> shown = {"170907.5 -124750 375"};
  for (const char* right : {"€170,907.50", "£170907.50", "≈170907.5", "about €375", "170’907.50",
                            "170\u00A0907.50", "−124,750", "-124750"}) {
    EXPECT_TRUE(CheckGrounded(right, "", {}, shown).grounded) << right;
    EXPECT_TRUE(LeadingNumberGrounded(right, {}, shown)) << right;
  }
  for (const char* wrong : {"€99", "€99999", "about €12", "€999,375", "−375", "¥170,909"}) {
    EXPECT_FALSE(CheckGrounded(wrong, "", {}, shown).grounded) << wrong;
    EXPECT_FALSE(LeadingNumberGrounded(wrong, {}, shown)) << wrong;
  }
  EXPECT_TRUE(CheckGrounded("naïve7", "", {}, shown).grounded) << "a name";
}

TEST(GroundingTest, WordsAndNumbersOfTheQuestionNeedNoEvidence) {  // REC-40
  Check({"Of the 500 orders 42 failed", "42", true}, "How many of the 500 orders failed?");
  Check({"\"timeout\" occurs 42 times", "42", true}, "How often does \"timeout\" occur?");
  Check({"501", "42", false, "501"}, "How many of the 500 orders failed?");
}

TEST(GroundingTest, QuotedTextsMustHaveBeenPrinted) {  // REC-40
  constexpr Case kCases[] = {
      {"It says \"connection  RESET\".", "error: connection reset by peer", true},
      {"It says \"connection lost\".", "error: connection reset", false, "connection lost"},
      {"The user is `bob`", "alice", false, "bob"},
      {"The user is 'bob'", "bob", true},
      {"The dog's and the cat's", "nothing", true},
      {"It's 'bob's house' there", "nothing", false, "bob's house"},
      {"“eve” did it", "mallory", false, "eve"},
      {"an unclosed \"quote", "nothing", true},
  };
  for (const Case& c : kCases) Check(c, "What is it?");
}

TEST(GroundingTest, AnExampleOfTheHintIsNoAnswerUntilItIsPrinted) {  // REC-40, small-models 5
  const std::vector<std::string> hint = {"libmpc3", "open", "x", "New York"};
  Check({"The largest is libmpc3.", "clang 42", false, "libmpc3"}, "Which is the largest?", hint);
  Check({"The largest is libmpc3.", "LIBMPC3 42", true}, "Which is the largest?", hint);
  Check({"It was reopened.", "done", true}, "What happened?", hint);
  Check({"new  york", "boston", false, "New York"}, "Where?", hint);
  Check({"Yes, open.", "done", true}, "Is it open or closed?", hint);
  Check({"x", "y", true}, "Which?", hint);
}

TEST(GroundingTest, NothingPrintedGroundsNothing) {  // REC-40
  EXPECT_FALSE(CheckGrounded("clang", "Which?", {}, {}).grounded);
  EXPECT_FALSE(CheckGrounded("clang", "Which?", {}, std::vector<std::string>{" \n"}).grounded);
}

bool LargeGrounded(std::string_view answer, std::string_view printed,
                   std::string_view question = "How many?", std::string_view sizes = "") {
  return LeadingNumberGrounded(answer, {.question = question, .sizes = sizes},
                               std::vector{std::string(printed)});
}

TEST(GroundingTest, ALargeModelMayReckonWithTwoNumbersOfAShortOutput) {  // FLT-36
  EXPECT_TRUE(LargeGrounded("36", "Counter({'blue': 2018, 'red': 1982})"));
  EXPECT_TRUE(LargeGrounded("4,000 in all", "2018 1982"));
  EXPECT_TRUE(LargeGrounded("About 3.5 % of the jobs failed.", "141 4000"));
  EXPECT_FALSE(LargeGrounded("About 3.6 % of the jobs failed.", "141 4000"));
  EXPECT_TRUE(LargeGrounded("1.02 times as many", "2018 1982"));
  EXPECT_FALSE(LargeGrounded("37", "2018 1982"));
  EXPECT_FALSE(LargeGrounded("36", "2018 1982 5 7 9")) << "too many numbers";
  EXPECT_TRUE(LargeGrounded("2", "['blue', 'red']"));
  EXPECT_TRUE(LargeGrounded("3", "Out: [{'a': 1, 'b': 2}, (3, 4), 'x, y']"));
  EXPECT_FALSE(LargeGrounded("3", "['blue', 'red']"));
}

TEST(GroundingTest, NumbersOfTheQuestionAndTheDataAreNeutral) {  // FLT-36
  const std::string_view question = "How many of the 4000 jobs failed?";
  EXPECT_FALSE(LargeGrounded("777 of the 4000 jobs failed.", "{'job': 1}", question));
  EXPECT_FALSE(LargeGrounded("Of 4000 jobs 777 failed.", "{'job': 1}", question));
  EXPECT_TRUE(LargeGrounded("141 of the 4000 jobs failed.", "141", question));
  EXPECT_FALSE(LargeGrounded("Of 512 lines 777 match.", "512", "How many match?", "512"));
  EXPECT_FALSE(LargeGrounded("777 and 141", "141"));
  EXPECT_TRUE(LargeGrounded("141 and 777", "141"));
  EXPECT_FALSE(LargeGrounded("512", "141", "How many match?", "512"))
      << "a size that nothing showed";
}

TEST(GroundingTest, ReckoningGroundsFewNumbersByChance) {  // FLT-36
  Random random(7);
  constexpr int kRounds = 20'000;
  for (const std::uint64_t top : {20, 100, 1'000, 10'000}) {
    int reckoned = 0, with_question = 0;
    for (int round = 0; round < kRounds; ++round) {
      std::string printed;
      for (std::uint64_t i = 2 + random.Below(3); i > 0; --i) {
        printed += fmt::format("{} ", 1 + random.Below(top));
      }
      const std::string answer = std::to_string(1 + random.Below(top));
      const bool stands = (" " + printed).find(" " + answer + " ") != std::string::npos;
      if (stands) continue;
      if (LargeGrounded(answer, printed)) ++reckoned;
      const std::string asked = std::to_string(1 + random.Below(top));
      if (asked == answer) continue;  // words of the question need no evidence
      const std::string question =
          fmt::format("What is it with {}{}?", asked, round % 2 == 0 ? "" : " %");
      if (LargeGrounded(answer, printed, question)) ++with_question;
    }
    RecordProperty(fmt::format("reckoned_below_{}", top), reckoned);
    EXPECT_LT(reckoned, kRounds * 3 / 100) << top;
    EXPECT_LT(with_question, kRounds * 3 / 100) << top;
  }
}

// Outputs as printed by programs, and wrong answers in the forms of right ones.
TEST(GroundingTest, ReckoningWithFormsAndSizesGroundsFewNumbersByChance) {  // FLT-36
  Random random(11);
  constexpr int kRounds = 600;
  const auto below = [&](std::uint64_t most) { return 1 + random.Below(most); };
  const auto text = [&] {
    return fmt::format(
        "Sales rose from {}.{} million euros to {}.{} million euros. There were {} people, {} of "
        "them women. It moved on {} October 20{}.",
        10 + below(80), below(9), 10 + below(80), below(9), below(2'000), below(900), below(28),
        10 + below(14));
  };
  const auto counter = [&] {
    return fmt::format("{{'DE': {}, 'ES': {}, 'FR': {}, 'IT': {}, 'PL': {}}}", below(200),
                       below(200), below(200), below(200), below(200));
  };
  const auto times = [&] {
    return fmt::format("2025-06-02T{:02}:{:02}:00 2025-06-02T{:02}:{:02}:00", random.Below(24),
                       random.Below(60), random.Below(24), random.Below(60));
  };
  const auto few = [&] { return fmt::format("{} {}", below(400), below(400)); };
  const std::function<std::string()> outputs[] = {text, counter, times, few};
  const std::function<std::string()> answers[] = {
      [&] { return fmt::format("{}", 100 + below(1'800)); },
      [&] { return fmt::format("{}", 10 + below(89)); },
      [&] { return fmt::format("{}.{} %", below(99), below(9)); },
      [&] { return fmt::format("{} percent", 10 + below(89)); },
      [&] { return fmt::format("{} %", below(9)); },
      [&] { return fmt::format("{}.{} million", below(99), below(9)); },
      [&] { return fmt::format("{}.{} hours", below(23), below(9)); },
      [&] { return fmt::format("{} h {} min", below(23), below(59)); },
      [&] { return fmt::format("about {},000", 10 + below(89)); },
  };
  for (std::size_t output = 0; output < std::size(outputs); ++output) {
    for (std::size_t answer = 0; answer < std::size(answers); ++answer) {
      int grounded = 0;
      for (int round = 0; round < kRounds; ++round) {
        const Known known{.question = "How many more has DE than PL?",
                          .sizes = "1 20000 20000 401 400"};
        const std::vector<std::string> printed{outputs[output]()};
        const std::string given = answers[answer]();
        if (CheckGrounded(given, "", {}, printed).grounded) continue;  // printed unchanged
        grounded += UnshownNumber(given, known, printed).empty();
      }
      EXPECT_LT(grounded, kRounds / 10) << output << " " << answer;
    }
  }
}

TEST(GroundingTest, WhatStandsInQuotationMarksWasShown) {  // FLT-36
  const std::vector<std::string> shown = {"sold it for a  penny"};
  EXPECT_EQ(UnseenQuote("Paul bought it for \"a song\".", "", shown), "a song");
  EXPECT_EQ(UnseenQuote("Paul bought it for “a song”.", "", shown), "a song");
  EXPECT_EQ(UnseenQuote("Paul bought it \"for a penny\".", "", shown), "");
  EXPECT_EQ(UnseenQuote("No \"song\" in it", "Where is \"song\"?", shown), "");
  EXPECT_EQ(UnseenQuote("{\"failed\": 141}", "", shown), "");
  EXPECT_EQ(UnseenQuote("Bob's and Ann's", "", shown), "");
}

TEST(GroundingTest, WhatWasPrintedIsAlwaysGrounded) {
  Random random(43);
  constexpr std::string_view kPieces[] = {"1",  "23", "456", ",", ".",  "-", " ", "a", "%",
                                          "\n", "'",  "\"",  "_", "01", "e", "`", "“", "”"};
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(14); i > 0; --i) {
      text += kPieces[random.Below(std::size(kPieces))];
    }
    const std::vector<std::string> printed = {"x", text};
    EXPECT_TRUE(CheckGrounded(text, "", {}, printed).grounded) << text;
    CheckGrounded(random.Bytes(60), random.Bytes(20), printed, printed);
  }
}

TEST(PrintedAnswerTest, OneShortValueOfTheWantedKindIsAnAnswer) {  // small-models 16
  struct Row {
    std::string_view output;
    AnswerKind wanted;
    std::optional<std::string> answer;
  };
  constexpr auto kNumber = AnswerKind::kNumber, kOther = AnswerKind::kOther;
  const Row kRows[] = {
      {"42\n", kNumber, "42"},
      {"Out: 42\n", kNumber, "42"},
      {"Total: 3,800", kNumber, "3,800"},
      {"12.5 %", kNumber, "12.5 %"},
      {"clang", kNumber, std::nullopt},
      {"'clang'", kOther, "clang"},
      {"Package: clang", kOther, "clang"},
      {"42", kOther, "42"},
      {"True", kOther, "True"},
      {"0", kNumber, std::nullopt},
      {"None", kOther, std::nullopt},
      {"[]", kOther, std::nullopt},
      {"['a', 'b']", kOther, std::nullopt},
      {"a\nb", kOther, std::nullopt},
      {"", AnswerKind::kUnknown, std::nullopt},
      {"the quick brown fox jumps over the dog", kOther, std::nullopt},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(PrintedAnswer(row.output, row.wanted), row.answer) << row.output;
  }
}

TEST(WithoutTypedTest, WhatTheCodeSaysItselfIsTakenAway) {  // FLT-15
  const std::vector<std::string> typed{"100", "Total:", "a b"};
  EXPECT_EQ(WithoutTyped("Total: 42 of 100", typed), "  42 of  ");
  EXPECT_EQ(WithoutTyped("1000 and x100", typed), "1000 and x100") << "other words hold it";
  EXPECT_EQ(WithoutTyped("a b a b", typed), "   ");
  EXPECT_EQ(WithoutTyped("", typed), "");
  const std::vector<std::string> sentence{"It is ", ".", "-", "1."};
  EXPECT_EQ(WithoutTyped("It is 284.62.", sentence), " 284.62.") << "a number keeps its point";
  EXPECT_EQ(WithoutTyped("1. 1.5 2024-07-21", sentence), "  1.5 2024-07-21");
}

TEST(WithPlainDigitsTest, DigitsOfAllScriptsAreNumbers) {  // FLT-15
  EXPECT_EQ(WithPlainDigits("\u0661\u0663\u0664\u0663 \uFF11\uFF13 caf\u00E9 \u0967"),
            "1343 13 caf\u00E9 1");
  EXPECT_EQ(WithPlainDigits("\xff"
                            "7"),
            "\xff"
            "7");
}

TEST(SaysNothingTest, ZeroAndEmptyInAnySpelling) {  // FLT-36
  for (const char* text :
       {"0", "0.00", "Out: 0", "Total: 0", "none", "[]", "There are 0 of them"}) {
    EXPECT_TRUE(SaysNothing(text, "")) << text;
  }
  EXPECT_TRUE(SaysNothing("0 of the 500 orders", "How many of the 500 orders?"));
  EXPECT_TRUE(SaysNothing("0", "Is it 0 or 1?"));
  for (const char* text :
       {"{'open': 0, 'closed': 0}", "[0, 0]", "0.00 %", "[[], []]", "open: None\nclosed: set()",
        "the average is 0.00", "0 open tickets", "x = []", "Counter()"}) {
    EXPECT_TRUE(SaysNothing(text, "")) << text;
  }
  for (const char* text : {"5", "0 and 5", "ann", "10", "[]\nann", "x = ann", "3000"})
    EXPECT_FALSE(SaysNothing(text, "")) << text;
}

}  // namespace
}  // namespace dossier::ask
