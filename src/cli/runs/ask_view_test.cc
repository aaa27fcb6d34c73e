#include "cli/runs/ask_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/result_matchers.h"

namespace dossier::cli {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAreArray;

Result<AskWords> Read(const std::vector<std::string>& words) {
  return ReadAskWords(words, [](const std::string& path) {
    return path == "a.csv" || path == "docs" || path == "two words.txt";
  });
}

TEST(AskWordsTest, WhatExistsIsAContextAndTheOtherWordTheQuestion) {  // FLT-41
  struct Case {
    std::vector<std::string> words;
    std::string question;
    std::vector<std::string> paths;
  };
  const Case cases[] = {
      {{"Which?"}, "Which?", {}},
      {{"Which?", "a.csv", "docs"}, "Which?", {"a.csv", "docs"}},
      {{"a.csv", "Which?", "docs"}, "Which?", {"a.csv", "docs"}},
      {{"docs", "two words.txt", "Which of a.csv?"}, "Which of a.csv?", {"docs", "two words.txt"}},
      {{"-", "Which?"}, "Which?", {"-"}},
      {{"Which?", "-"}, "Which?", {"-"}},
      {{"a.csv", "-"}, "-", {"a.csv"}},
      {{"-"}, "-", {}},
      {{"", "Which?"}, "Which?", {}},
      {{"a.csv", "docs?"}, "docs?", {"a.csv"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::PrintToString(c.words));
    const auto read = Read(c.words);
    ASSERT_THAT(read, Succeeds());
    EXPECT_EQ(read->question, c.question);
    EXPECT_THAT(read->paths, ElementsAreArray(c.paths));
  }
}

TEST(AskWordsTest, NoneOrSeveralQuestionsAreRefusedWithBothReadings) {  // FLT-41
  EXPECT_THAT(Read({}), FailsWith(ErrorCode::kUsage, "the question is missing"));
  EXPECT_THAT(Read({" "}), FailsWith(ErrorCode::kUsage, "the question is missing"));
  EXPECT_THAT(Read({"docs"}),
              FailsWith(ErrorCode::kUsage, "\"docs\" is a context, so the question is missing"));
  EXPECT_THAT(Read({"docs"}), FailsWith(ErrorCode::kUsage, "end it with a question mark"));
  EXPECT_THAT(Read({"docs", "a.csv"}), FailsWith(ErrorCode::kUsage, "dossier ask docs …"));
  EXPECT_THAT(Read({"b.csv", "Which?"}),
              FailsWith(ErrorCode::kUsage, "\"b.csv\", \"Which?\" name no file or folder"));
  EXPECT_THAT(Read({"How", "many", "rows", "are", "there"}),
              FailsWith(ErrorCode::kUsage, "\"rows\" and 2 more name no file"));
}

}  // namespace

namespace {

ask::Outcome Answered() {
  ask::Outcome outcome;
  outcome.status = ask::RunStatus::kFinal;
  outcome.run = "20261123-010203-abcdef";
  outcome.turns = 3;
  outcome.usage.calls = 12;
  outcome.usage.spent.total = {.input = 45'120, .output = 1'233, .cost_nano_usd = 12'345'678};
  outcome.evidence = {.read_by_code = 1, .attempts = 1, .agreeing = 1};
  return outcome;
}

TEST(ClosingLineTest, SaysWhatItTookAndWhatItStandsOn) {  // FLT-34
  EXPECT_EQ(ClosingLine(Answered()),
            "3 turns, 12 calls, 46,353 tokens, $0.0123; code read all; dossier runs show last");
}

TEST(ClosingLineTest, SaysWhatSpeaksAgainstTheAnswer) {  // FLT-34
  ask::Outcome outcome = Answered();
  outcome.turns = 1;
  outcome.usage = {.calls = 1, .cached_calls = 4};
  outcome.usage.spent.total = {.input = 1, .estimated = true};
  outcome.evidence = {.read_by_models = 0.004, .read_by_code = 0.999, .attempts = 3, .agreeing = 2};
  outcome.evidence.doubts = {"It stands in no output."};
  outcome.warnings = {{"a", nullptr}, {"b", nullptr}};
  EXPECT_EQ(
      ClosingLine(outcome),
      "1 turn, 1 call (and 4 from the cache), about 1 token, of unknown cost; models read less "
      "than 1 %, code read 99 %; 2 of 3 attempts agree; 1 doubt; 2 warnings; dossier runs show "
      "last");
  outcome.evidence = {};
  outcome.run.clear();  // no journal
  outcome.warnings.clear();
  EXPECT_EQ(ClosingLine(outcome),
            "1 turn, 1 call (and 4 from the cache), about 1 token, of unknown cost; no reading "
            "was seen");
}

TEST(ClosingLineTest, CountsTheQuotesThatHold) {  // REC-66
  using Status = ask::Citation::Status;
  ask::Outcome outcome = Answered();
  outcome.citations = {{.ref = "Doc 1", .quote = "some words", .status = Status::kVerified},
                       {.quote = "other words", .status = Status::kNotFound},
                       {.ref = "Doc 3", .status = Status::kInRange},
                       {.ref = "Doc 9", .status = Status::kOutOfRange}};
  EXPECT_EQ(ClosingLine(outcome),
            "3 turns, 12 calls, 46,353 tokens, $0.0123; code read all; 1 of 2 quotes verified, "
            "1 reference to nothing; dossier runs show last");
}

TEST(ClosingLineTest, CostsAreNotRoundedToNothing) {  // FLT-34
  EXPECT_EQ(CostText(std::nullopt), "of unknown cost");
  EXPECT_EQ(CostText(0), "free");
  EXPECT_EQ(CostText(1'000), "less than $0.0001");
  EXPECT_EQ(CostText(123'456'789), "$0.1235");
}

TEST(ClosingLineTest, ANarrowTerminalGetsWholeParts) {  // FLT-34
  const std::string line = "one, two; three four; five";
  EXPECT_EQ(FitClosingLine(line, 80), line + "\n");
  EXPECT_EQ(FitClosingLine(line, 26), "one, two; three four;\nfive\n");
  EXPECT_EQ(FitClosingLine(line, 27), line + "\n");
  EXPECT_EQ(FitClosingLine(line, 12), "one, two;\nthree four;\nfive\n");
  EXPECT_EQ(FitClosingLine(line, 1), "one, two;\nthree four;\nfive\n");
}

}  // namespace
}  // namespace dossier::cli
