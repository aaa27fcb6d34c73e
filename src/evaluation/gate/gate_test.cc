#include "evaluation/gate/gate.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::evaluation {
namespace {

const GatePrograms kPrograms{.base = "base", .head = "head"};

// A program that takes a second, give or take `noise`; the head takes `factor` times as long, and
// waits `waits` times as long.
Measure Simulated(double factor, double noise, std::uint64_t seed, double waits = 1) {
  auto random = std::make_shared<Random>(seed);
  return [=](const std::string& program) -> Result<Seconds> {
    const double shaken = 1 + noise * (2 * random->Unit() - 1);
    const double cpu = (program == "head" ? factor : 1.0) * shaken;
    return Seconds{.cpu = cpu, .wall = cpu * (program == "head" ? waits : 1.0)};
  };
}

Result<SpeedResults> Speed(const Measure& measure, const GateLimits& limits = {}) {
  return CompareSpeed(kPrograms, limits, measure, [](const SpeedResults&) {});
}

TEST(SpeedTest, EightPercentAreWorseAndOneIsNot) {  // EVL-101, EVL-A21
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto slow = Speed(Simulated(1.08, 0.02, seed));
    EXPECT_EQ(slow->cpu.verdict, GateLine::Verdict::kWorse) << seed;
    const auto near = Speed(Simulated(1.01, 0.02, seed));
    EXPECT_EQ(near->cpu.verdict, GateLine::Verdict::kOpen) << seed;
    EXPECT_GE(near->cpu.rounds, 10);
    EXPECT_LE(near->cpu.rounds, 40);
  }
}

TEST(SpeedTest, ABusyMachineIsNeverWorse) {  // EVL-101, EVL-A21
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto found = Speed(Simulated(1, 0.3, seed));
    EXPECT_NE(found->cpu.verdict, GateLine::Verdict::kWorse) << seed;
  }
}

TEST(SpeedTest, ABaseThatDiffersFromItselfIsUnclear) {  // EVL-101
  int call = 0;
  const Measure drifting = [&call](const std::string&) -> Result<Seconds> {
    // The first of four is slow in even rounds, the last in odd ones.
    const int at = call % 8;
    ++call;
    return Seconds{.cpu = at == 3 || at == 4 ? 1.5 : 1.0, .wall = 1};
  };
  const auto found = Speed(drifting);
  EXPECT_EQ(found->cpu.verdict, GateLine::Verdict::kUnclear);
}

TEST(SpeedTest, AProgramThatOnlyWaitsLongerIsWorse) {  // EVL-101
  const auto found = Speed(Simulated(1, 0.02, 1, /*waits=*/1.08));
  EXPECT_EQ(found->cpu.verdict, GateLine::Verdict::kOpen);
  EXPECT_EQ(found->wall.verdict, GateLine::Verdict::kWorse);
}

TEST(SpeedTest, WhereTheTimeIsOverItIsUnclearAndEachRoundIsTold) {  // EVL-101, EVL-106
  int told = 0;
  GateLimits limits;
  limits.most_seconds = 0;
  const auto found = CompareSpeed(kPrograms, limits, Simulated(1, 0, 1),
                                  [&told](const SpeedResults& one) { told = one.cpu.rounds; });
  EXPECT_EQ(told, 1);
  EXPECT_EQ(found->cpu.verdict, GateLine::Verdict::kUnclear);
  EXPECT_EQ(found->wall.verdict, GateLine::Verdict::kUnclear);
}

TEST(SpeedTest, AFailedMeasurementEndsIt) {
  const Measure broken = [](const std::string&) -> Result<Seconds> {
    return MakeError(ErrorCode::kNotFound, "no such program");
  };
  EXPECT_FALSE(Speed(broken));
}

TEST(NightlyTest, SaysWorseOnlyWhereItIsSeparated) {  // EVL-103
  using Verdict = GateLine::Verdict;
  struct Expected {
    ArmComparison found;
    Verdict verdict;
    std::string_view said;
  };
  const Expected cases[] = {
      {{.difference = -4, .low = -6, .high = -2, .tasks = 200, .windows = 20, .separated = true},
       Verdict::kWorse,
       "-4.0 points (-6.0 to -2.0), 200 tasks in 20 windows"},
      {{.difference = 3, .low = 1, .high = 5, .tasks = 200, .windows = 20, .separated = true},
       Verdict::kBetter,
       "+3.0 points (+1.0 to +5.0), 200 tasks in 20 windows"},
      {{.difference = -2, .low = -4.5, .high = 0.5, .tasks = 100, .windows = 10},
       Verdict::kWatch,
       "-2.0 points, not separated (-4.5 to +0.5), 100 tasks in 10 windows"},
      {{.difference = 0.4, .low = -1.8, .high = 2.6, .tasks = 100, .windows = 10},
       Verdict::kOpen,
       "+0.4 points, not separated (-1.8 to +2.6), 100 tasks in 10 windows"},
      {{.difference = 0, .low = 0, .high = 0, .tasks = 100, .windows = 10},
       Verdict::kOpen,
       "+0.0 points, not separated (+0.0 to +0.0), 100 tasks in 10 windows"},
      {{.difference = -50, .low = -60, .high = -40, .tasks = 99, .windows = 10},
       Verdict::kUnclear,
       "-50.0 points, too few to tell: 99 tasks in 10 windows, and 100 in 10 are needed"}};
  for (const Expected& one : cases) {
    const GateLine line = NightlyLine("aggregate", one.found);
    EXPECT_EQ(line.verdict, one.verdict) << one.said;
    EXPECT_EQ(line.said, one.said);
    EXPECT_EQ(line.Text().find("equal"), std::string::npos);
  }
}

TEST(GateTest, BisectFindsEachOfTen) {  // EVL-106, EVL-A20
  for (std::size_t first = 0; first < 10; ++first) {
    int looks = 0;
    const auto found = FirstBad(10, [&](std::size_t step) -> Result<bool> {
      ++looks;
      return step >= first;
    });
    EXPECT_EQ(*found, first);
    EXPECT_LE(looks, 4);
  }
}

GateFigures Figures() {
  return {.answers = {{"a", "ok 1"}, {"b", "ok 2"}},
          .requests = {{"root", 4}, {"sent", 9}},
          .tokens = {{"root in", 1000}},
          .warnings = {},
          .journal = 100'000,
          .kept = 900,
          .sent = 1000};
}

TEST(GateTest, LimitsAreMetToTheUnit) {  // EVL-100
  const GateLimits limits;
  struct Case {
    const char* line;  // empty: no difference
    std::function<void(GateFigures&)> change;
  };
  const Case kCases[] = {
      {"", [](GateFigures&) {}},
      {"answers", [](GateFigures& f) { f.answers["b"] = "ok 3"; }},
      {"answers", [](GateFigures& f) { f.answers.erase("a"); }},
      {"requests root", [](GateFigures& f) { ++f.requests["root"]; }},
      {"", [](GateFigures& f) { f.tokens["root in"] = 1010; }},
      {"tokens root in", [](GateFigures& f) { f.tokens["root in"] = 1011; }},
      {"", [](GateFigures& f) { f.journal = 101'000; }},
      {"journal bytes", [](GateFigures& f) { f.journal = 101'001; }},
      {"prefix kept", [](GateFigures& f) { f.kept = 880; }},
      {"warnings stalled", [](GateFigures& f) { f.warnings["stalled"] = 1; }},
  };
  for (const Case& c : kCases) {
    GateFigures head = Figures();
    c.change(head);
    const auto lines = CompareFigures("suite", Figures(), head, limits);
    ASSERT_EQ(lines.size(), std::string_view(c.line).empty() ? 0 : 1) << c.line;
    if (lines.empty()) continue;
    EXPECT_EQ(lines[0].metric, c.line);
    EXPECT_EQ(lines[0].verdict, GateLine::Verdict::kWorse);
  }
}

TEST(GateTest, FewerTokensAreBetterAndStandLast) {  // EVL-106
  GateFigures head = Figures();
  head.tokens["root in"] = 900;
  ++head.requests["root"];
  auto lines = CompareFigures("suite", Figures(), head, {});
  SortLines(&lines);
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0].Text(), "worse   requests root  suite  5 (was 4)  dossier eval diff a");
  EXPECT_TRUE(lines[1].Text().starts_with("better  tokens root in  suite  900 (was 1000)"));
}

}  // namespace
}  // namespace dossier::evaluation
