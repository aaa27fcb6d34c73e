#include "evaluation/run/judge.h"

#include <gtest/gtest.h>

#include "evaluation/run/runner.h"
#include "testing/result_matchers.h"

namespace dossier::evaluation {
namespace {

using dossier::testing::Succeeds;

TEST(JudgeTest, ReadsTheLastScore) {  // EVL-55
  EXPECT_EQ(ReadOpinion("It is fine.\nScore: 7"), 0.7);
  EXPECT_EQ(ReadOpinion("Score: 2 at first. No.\n**Score:** 10\n"), 1.0);
  EXPECT_EQ(ReadOpinion("score = 7.5"), 0.75);
  EXPECT_EQ(ReadOpinion("Score: 11"), std::nullopt);
  EXPECT_EQ(ReadOpinion("seven of ten"), std::nullopt);
  EXPECT_EQ(ReadOpinion(""), std::nullopt);
}

TEST(JudgeTest, AnOpinionIsNoScore) {  // EVL-55
  AskedTask asked;
  asked.task.scorer = kJudgeScorer;
  asked.task.gold = JsonArray{"Rex"};
  Row row{.arm = "a", .task = "q1", .status = RowStatus::kOk, .answer = "Rex", .opinion = 0.5};
  ASSERT_THAT(ScoreRow(asked, {}, &row), Succeeds());
  EXPECT_EQ(row.official, std::nullopt);
  EXPECT_EQ(row.lenient, std::nullopt);
  EXPECT_EQ(row.opinion, 0.5);
  row.status = RowStatus::kTimeout;  // what is no answer has no score of 0 either
  ASSERT_THAT(ScoreRow(asked, {}, &row), Succeeds());
  EXPECT_EQ(row.official, std::nullopt);
}

}  // namespace
}  // namespace dossier::evaluation
