#include "evaluation/run/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace dossier::evaluation {
namespace {

// Sum of 12 uniform numbers: close enough to a normal one, and the same everywhere.
double Normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.Unit();
  return sum;
}

// `windows` of `questions` each, whose differences share what is particular to the window.
std::vector<PairedScore> ClusteredSet(Random& random, double truth, int windows, int questions) {
  std::vector<PairedScore> scores;
  for (int w = 0; w < windows; ++w) {
    const double shared = 0.2 * Normal(random);
    for (int q = 0; q < questions; ++q) {
      scores.push_back({std::to_string(w), truth + shared + 0.2 * Normal(random), 0.0});
    }
  }
  return scores;
}

TEST(StatisticsTest, AKnownSetHasKnownNumbers) {  // EVL-70
  std::vector<PairedScore> scores;
  for (int w = 0; w < 10; ++w) {
    for (int q = 0; q < 10; ++q) scores.push_back({std::to_string(w), q < 6 ? 1.0 : 0.0, 0.5});
  }
  const ArmComparison found = Compare(scores, 1000, 1);
  EXPECT_NEAR(found.difference, 10, 1e-9);
  EXPECT_NEAR(found.low, 10, 1e-9) << "all windows are alike";
  EXPECT_EQ(found.tasks, 100);
  EXPECT_EQ(found.windows, 10);
  EXPECT_TRUE(found.separated);
  EXPECT_NEAR(found.p, 2.0 / 1024, 1e-9) << "of all signs only two are as far";
}

TEST(StatisticsTest, TooFewTasksOrWindowsSeparateNothing) {  // EVL-70
  struct Case {
    int windows, questions;
    bool separated;
  };
  for (const Case& c : {Case{10, 10, true}, Case{9, 12, false}, Case{11, 9, false}}) {
    std::vector<PairedScore> scores;
    for (int w = 0; w < c.windows; ++w) {
      for (int q = 0; q < c.questions; ++q) scores.push_back({std::to_string(w), 1, 0});
    }
    EXPECT_EQ(Compare(scores, 200, 1).separated, c.separated) << c.windows << "x" << c.questions;
  }
}

TEST(StatisticsTest, TheBootstrapOfWindowsCoversAndTheNaiveOneDoesNot) {  // EVL-A16, EVL-70
  Random random(11);
  int covered = 0, naive = 0;
  constexpr int kSets = 2000;
  constexpr double kTruth = 0.05;
  for (int set = 0; set < kSets; ++set) {
    std::vector<PairedScore> scores = ClusteredSet(random, kTruth, 60, 8);
    const Interval whole = MeanWithInterval(scores, 400, set);
    covered += whole.low <= 100 * kTruth && 100 * kTruth <= whole.high;
    int n = 0;
    for (PairedScore& score : scores) score.window = std::to_string(n++);
    const Interval single = MeanWithInterval(scores, 400, set);
    naive += single.low <= 100 * kTruth && 100 * kTruth <= single.high;
  }
  EXPECT_GE(covered, kSets * 93 / 100);
  EXPECT_LE(covered, kSets * 97 / 100);
  EXPECT_LT(naive, kSets * 80 / 100);
}

TEST(StatisticsTest, EqualSystemsSeldomGetASmallP) {
  Random random(5);
  int small = 0;
  for (int set = 0; set < 400; ++set) {
    small += Compare(ClusteredSet(random, 0, 20, 5), 400, set).p < 0.05;
  }
  EXPECT_LE(small, 36);  // 20 are expected
  EXPECT_GE(small, 6);
}

TEST(StatisticsTest, HolmStepsDownAndKeepsTheOrder) {  // EVL-70
  const double p[] = {0.04, 0.01, 0.03};
  const std::vector<double> adjusted = AdjustByHolm(p);
  EXPECT_NEAR(adjusted[1], 0.03, 1e-12);
  EXPECT_NEAR(adjusted[2], 0.06, 1e-12);
  EXPECT_NEAR(adjusted[0], 0.06, 1e-12) << "never below that of a smaller p";
}

TEST(StatisticsTest, HowManyMoreIsSaidInTens) {  // EVL-112
  ArmComparison found{.difference = 2, .low = -1, .high = 5, .tasks = 120, .windows = 12};
  EXPECT_EQ(MoreTasksNeeded(found), 150);  // 120 * (3 / 2)^2 = 270
  found.separated = true;
  EXPECT_EQ(MoreTasksNeeded(found), 0);
  // One window has no interval: ten and more are needed, not ten times as many questions.
  EXPECT_EQ(MoreTasksNeeded({.difference = 33, .low = 33, .high = 33, .tasks = 150, .windows = 1}),
            10);
  EXPECT_EQ(MoreTasksNeeded({.difference = 0, .low = -1, .high = 1, .tasks = 9}), -1);
}

TEST(StatisticsTest, AnEmptySetIsNoDifference) {
  EXPECT_EQ(Compare({}, 100, 1).tasks, 0);
  EXPECT_EQ(Quantile({}, 0.5), 0);
  EXPECT_EQ(Quantile({3, 1, 2}, 0.5), 2);
}

}  // namespace
}  // namespace dossier::evaluation
