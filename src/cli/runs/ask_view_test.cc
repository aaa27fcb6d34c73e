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
              FailsWith(ErrorCode::kUsage, "\"docs\" exists here, so the question is missing"));
  EXPECT_THAT(Read({"docs"}), FailsWith(ErrorCode::kUsage, "end it with a question mark"));
  EXPECT_THAT(Read({"docs", "a.csv"}), FailsWith(ErrorCode::kUsage, "dossier ask docs …"));
  EXPECT_THAT(Read({"b.csv", "Which?"}),
              FailsWith(ErrorCode::kUsage, "\"b.csv\", \"Which?\" name no file or folder"));
  EXPECT_THAT(Read({"How", "many", "rows", "are", "there"}),
              FailsWith(ErrorCode::kUsage, "\"rows\" and 2 more name no file"));
}

}  // namespace
}  // namespace dossier::cli
