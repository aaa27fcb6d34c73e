#include "evaluation/score.h"

#include <gtest/gtest.h>

#include <random>

#include "base/files/file.h"
#include "base/text/text.h"
#include "evaluation/scorers/scorers.h"
#include "evaluation/tasks/dates.h"

namespace dossier::evaluation {
namespace {

Task TaskOf(std::string_view scorer, std::vector<std::string> gold, std::string_view type = "") {
  Task task{.id = "t", .scorer = std::string(scorer)};
  JsonArray texts;
  for (const std::string& one : gold) texts.push_back(Json(one));
  task.gold = std::move(texts);
  if (!type.empty()) task.meta["answer_type"] = "ANSWER_TYPE." + std::string(type);
  return task;
}

double Official(const Task& task, std::string_view answer) {
  return ScoreAnswer(task, answer)->official;
}

double Lenient(const Task& task, std::string_view answer) {
  return ScoreAnswer(task, answer)->lenient;
}

// EVL-54, EVL-A7: 400 answers as the published rules score them.
TEST(ScoreTest, AgreesWithTheReference) {
  const auto text = ReadFile(DOSSIER_SOURCE_DIR "/tests/evaluation/reference_scores.jsonl");
  ASSERT_TRUE(text);
  int rows = 0;
  for (const std::string_view line : Split(*text, '\n')) {
    if (line.empty()) continue;
    const Json row = *ParseJson(line);
    const std::string scorer = TextAt(row, "scorer"), gold = TextAt(row, "gold");
    Task task = TaskOf(scorer, {gold}, TextAt(row, "type"));
    if (scorer == "ruler") task.gold = *ParseJson(gold);
    if (scorer == "pairs" && gold.empty()) task.gold = JsonArray{};
    EXPECT_NEAR(Official(task, TextAt(row, "answer")), *FindNumber(row, "score"), 1e-15) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 400);
}

// EVL-45: the examples of the specification.
TEST(ScoreTest, ReadsOolongAnswersToTheLetter) {
  EXPECT_EQ(Official(TaskOf("oolong", {"ham"}, "LABEL"), "Label: [ ham ]"), 0);
  EXPECT_EQ(Official(TaskOf("oolong", {"12"}, "NUMERIC"), "Answer: 12 items"), 0);
  EXPECT_EQ(Official(TaskOf("oolong", {"12"}, "NUMERIC"), "12"), 1);
  EXPECT_EQ(Official(TaskOf("oolong", {"ham"}, "LABEL"), ""), 0);
  EXPECT_EQ(Official(TaskOf("oolong", {"ham"}, "LABEL"), "thought a while, and then said ham"), 1);
  const Task comparison = TaskOf("oolong", {"less common than"}, "COMPARISON");
  const Score score = *ScoreAnswer(comparison, "Answer: ham is less common than spam");
  EXPECT_EQ(score.official, 1);
  EXPECT_EQ(score.parsed, "less common");
  EXPECT_EQ(score.rule, "phrase");
}

// EVL-51
TEST(ScoreTest, NumbersOfOwnQuestionsAreComparedByTheirValue) {
  EXPECT_EQ(Official(TaskOf("number", {"3"}), "\u22123"), 0);
  EXPECT_EQ(Official(TaskOf("number", {"-3"}), "It is \u22123."), 1);
  EXPECT_EQ(Official(TaskOf("json", {R"({"a":1.0,"b":[2]})"}), R"({"b":[2.0],"a":1})"), 1);
  EXPECT_EQ(Official(TaskOf("json", {"9007199254740993"}), "9007199254740992"), 0);
  EXPECT_EQ(Official(TaskOf("json", {"[12345678901234567890123]"}), "[12345678901234567890124]"),
            0);
  EXPECT_EQ(Official(TaskOf("json", {"[12345678901234567890123]"}), "[12345678901234567890123]"),
            1);
  EXPECT_EQ(Official(TaskOf("json", {R"(["1"])"}), "[1]"), 0);
  EXPECT_EQ(Official(TaskOf("json", {R"({"a":1})"}), R"({"a":1,"b":2})"), 0);
}

// EVL-46
TEST(ScoreTest, UnboxesAnswers) {
  EXPECT_EQ(Official(TaskOf("oolong-real", {"5"}), "so \\boxed{\\text{6}}"), 0.75);
  EXPECT_EQ(Official(TaskOf("oolong-real", {"a, b"}), "\\boxed{b, c}"), 0.5);
  EXPECT_EQ(Official(TaskOf("oolong-real", {"7"}), "\\boxed{seven}"), 0);
}

// EVL-47, EVL-A6: F1 of empty, reversed, doubled and 50,000 pairs.
TEST(ScoreTest, ScoresPairsAsSets) {
  EXPECT_EQ(Official(TaskOf("pairs", {}), "no such pairs"), 1);
  EXPECT_EQ(Official(TaskOf("pairs", {"(1, 2)"}), ""), 0);
  EXPECT_EQ(Official(TaskOf("pairs", {}), "(1, 2)"), 0);
  EXPECT_EQ(Official(TaskOf("pairs", {"(1, 2)", "(3, 4)"}), "(2, 1) (2, 1) (4,3) (9, 9)"), 1);
  std::vector<std::string> gold;
  std::string answer;
  for (int i = 0; i < 50'000; ++i) {
    gold.push_back(fmt::format("({}, {})", 10'000 + i, 70'000 + i));
    if (i % 2 == 0) answer += gold.back();
  }
  EXPECT_NEAR(Official(TaskOf("pairs", gold), answer), 2.0 * 25'000 / 75'000, 1e-12);
}

// EVL-48, EVL-49
TEST(ScoreTest, ScoresContainedValuesAndChoices) {
  EXPECT_EQ(Official(TaskOf("ruler", {"Abc", "def"}), "it is ABC"), 0.5);
  Task any = TaskOf("ruler", {"abc", "def"});
  any.meta["match"] = "any";
  EXPECT_EQ(Official(any, "def"), 1);
  EXPECT_EQ(Official(TaskOf("choice", {"B"}), "**The correct answer is (B)**"), 1);
  EXPECT_EQ(Official(TaskOf("choice", {"B"}), "B"), 0);
  EXPECT_EQ(Lenient(TaskOf("choice", {"B"}), "B"), 1);
}

// EVL-50
TEST(ScoreTest, ScoresListsAndLines) {
  const Task list = TaskOf("list", {"a", "b", "c"});
  EXPECT_EQ(Official(list, "- a\n- b\n- c"), 1);
  EXPECT_EQ(Official(list, "[\"c\", \"b\", \"a\"]"), 1);
  EXPECT_NEAR(Official(list, "a, b"), 0.8, 1e-12);
  const Task lines = TaskOf("lines", {"1", "2", "3", "4"});
  EXPECT_EQ(ScoreAnswer(lines, "1\n2\n3\n4\n")->rule, "exact");
  EXPECT_EQ(Official(lines, "1\n3\n2\n4"), 0.75);
  EXPECT_EQ(Official(lines, "4\n3\n2\n1"), 0.25);
  EXPECT_EQ(Official(lines, ""), 0);
}

// EVL-50: the fast common subsequence against the plain one.
TEST(ScoreTest, FindsTheLongestCommonSubsequence) {
  std::mt19937 draw(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> a, b;
    for (auto* list : {&a, &b}) {
      const std::size_t size = draw() % 200;
      for (std::size_t i = 0; i < size; ++i) list->push_back(std::to_string(draw() % 9));
    }
    std::vector<std::vector<int>> table(a.size() + 1, std::vector<int>(b.size() + 1));
    for (std::size_t i = 1; i <= a.size(); ++i) {
      for (std::size_t j = 1; j <= b.size(); ++j) {
        table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
                                           : std::max(table[i - 1][j], table[i][j - 1]);
      }
    }
    const double wanted = a.empty() ? static_cast<double>(b.empty())
                                    : table[a.size()][b.size()] / static_cast<double>(a.size());
    EXPECT_EQ(Official(TaskOf("lines", a), Join(b, "\n")), wanted);
  }
}

// EVL-51
TEST(ScoreTest, ScoresQuestionsOfUsers) {
  EXPECT_EQ(Official(TaskOf("exact", {"Ada"}), " Ada\n"), 1);
  EXPECT_EQ(Official(TaskOf("exact", {"Ada"}), "ada"), 0);
  EXPECT_EQ(Official(TaskOf("iexact", {"Ada"}), "ada"), 1);
  EXPECT_EQ(Official(TaskOf("contains", {"Ada"}), "It was ada who wrote it."), 1);
  EXPECT_EQ(Official(TaskOf("number", {"1200"}), "That makes 1,200 in 2 years? No: 1,200."), 1);
  EXPECT_EQ(Official(TaskOf("number", {"1200"}), "x1200"), 0);
  Task near = TaskOf("near", {"10"});
  near.meta["tolerance"] = 0.5;
  EXPECT_EQ(Official(near, "about 10.4"), 1);
  EXPECT_EQ(Official(near, "about 10.6"), 0);
  EXPECT_EQ(Official(TaskOf("date", {"2027-03-31"}), "It ends on March 31, 2027."), 1);
  EXPECT_EQ(Official(TaskOf("regex", {"^v[0-9]+$"}), "v12"), 1);
  EXPECT_EQ(ScoreAnswer(TaskOf("regex", {"("}), "v12")->rule, "pattern");
  EXPECT_EQ(Official(TaskOf("set", {"a", "b"}), "b, a"), 1);
  EXPECT_EQ(Official(TaskOf("set", {"a", "b"}), "b"), 0);
  EXPECT_EQ(Official(TaskOf("json", {"{\"a\":[1,2]}"}), "```json\n{\"a\": [1, 2]}\n```"), 1);
  EXPECT_EQ(ScoreAnswer(TaskOf("command", {"x"}), "x").error().code, ErrorCode::kUnavailable);
}

// Section 6: an unknown scorer is named with the nearest, gold of a wrong type is damage.
TEST(ScoreTest, NamesWhatIsWrong) {
  const Error unknown = ScoreAnswer(TaskOf("oolog", {"x"}), "x").error();
  EXPECT_EQ(unknown.code, ErrorCode::kConfig);
  EXPECT_NE(unknown.message.find("oolong"), std::string::npos);
  Task task = TaskOf("exact", {"x"});
  task.gold = 5;
  EXPECT_EQ(ScoreAnswer(task, "5").error().code, ErrorCode::kDamaged);
}

// EVL-52
TEST(ScoreTest, ReadsDates) {
  const std::int32_t day = DayOf(2024, 6, 6);
  for (const char* text :
       {"06/06/2024", "2024-06-06", "Jun 6, 2024", "6 June 2024", "June 06, 2024"}) {
    EXPECT_EQ(ParseDate(text), day) << text;
  }
  EXPECT_EQ(ParseDate("16/01/2023"), DayOf(2023, 1, 16));
  for (const char* text :
       {"June 2024", "2024", "06/2024", "2023-02-29", "13/13/2024", "", "6 June"}) {
    EXPECT_EQ(ParseDate(text), std::nullopt) << text;
  }
  for (std::int32_t i = -40'000; i < 40'000; i += 37) EXPECT_EQ(ParseDate(IsoDate(i)), i);
}

// EVL-53
TEST(ScoreTest, ReadsLenientlyBesideTheRule) {
  const Task number = TaskOf("oolong", {"1200"}, "NUMERIC");
  EXPECT_EQ(Official(number, "Answer: **1,200** lines."), 0);
  EXPECT_EQ(Lenient(number, "<think>maybe 7</think>\nAnswer: **1,200** lines."), 1);
  Task label = TaskOf("oolong", {"ham"}, "LABEL");
  label.meta["choices"] = JsonArray{"ham", "spam"};
  EXPECT_EQ(Lenient(label, "Not spam, I think.\nIt is Ham."), 1);
  EXPECT_EQ(Lenient(label, "It is ham or spam."), 0);
  EXPECT_EQ(Lenient(label, "The shamrock."), 0);
  EXPECT_EQ(Lenient(number, std::string(400, 'x') + " 1200"), 1) << "the last word is the answer";
  EXPECT_EQ(Lenient(label, std::string(400, 'x') + "\nham."), 0) << "no short answer";
}

TEST(ScoreTest, WritesAnswersInTheFormAskedFor) {
  Task comparison = TaskOf("oolong", {"more common than"}, "COMPARISON");
  comparison.meta["a"] = "ham";
  comparison.meta["b"] = "spam";
  EXPECT_EQ(*WriteAnswer(comparison, comparison.gold), "Answer: ham is more common than spam");
  EXPECT_EQ(*WriteAnswer(TaskOf("oolong", {}, "DATE"), JsonArray{"2024-06-07"}),
            "Date: 06/07/2024");
  EXPECT_EQ(*WriteAnswer(TaskOf("choice", {}), JsonArray{"C"}), "The correct answer is (C)");
}

}  // namespace
}  // namespace dossier::evaluation
