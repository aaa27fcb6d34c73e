#include "assembly/fit/part.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace dossier::assembly {
namespace {

struct Example {
  const char* name;
  std::int64_t room;
  std::vector<BudgetDemand> demands;
  std::vector<std::int64_t> totals;  // -1: dropped
};

TEST(ShareOutTest, TheThreeChecksOfTheSpecComeOutExactly) {  // ASM-32, ASM-33, ASM-34, ASM-T2
  const Example kExamples[] = {
      {"weights, then cascade",
       10'000,
       {{.wanted = 9000, .weight = 3, .priority = 0.6},
        {.wanted = 1000, .weight = 1, .priority = 0.5},
        {.wanted = 5000, .weight = 0, .priority = 0.9}},
       {7500, 1000, 1500}},
      {"with a floor for C",
       10'000,
       {{.wanted = 9000, .weight = 3, .priority = 0.6},
        {.wanted = 1000, .weight = 1, .priority = 0.5},
        {.wanted = 5000, .floor = 2000, .weight = 0, .priority = 0.9}},
       {6000, 1000, 3000}},
      {"floors beyond the room",
       3'000,
       {{.wanted = 9000, .floor = 2000, .weight = 3, .priority = 0.6},
        {.wanted = 1000, .floor = 1000, .weight = 1, .priority = 0.5},
        {.wanted = 5000, .floor = 2000, .weight = 0, .priority = 0.9}},
       {1000, -1, 2000}},
  };
  for (const Example& example : kExamples) {
    const std::vector<Grant> grants = ShareOut(example.room, example.demands);
    for (std::size_t i = 0; i < grants.size(); ++i) {
      const std::int64_t total = grants[i].dropped ? -1 : grants[i].total();
      EXPECT_EQ(total, example.totals[i]) << example.name << ", section " << i;
    }
  }
}

TEST(ShareOutTest, WithoutWeightsPriorityAloneDecidesAndTiesGoToTheFirst) {  // ASM-33, ASM-38
  const std::vector<BudgetDemand> demands = {{.wanted = 80, .priority = 0.5},
                                             {.wanted = 80, .priority = 0.5},
                                             {.wanted = 30, .priority = 0.8}};
  const std::vector<Grant> grants = ShareOut(100, demands);
  EXPECT_EQ(grants[0].total(), 70);
  EXPECT_TRUE(grants[1].dropped);
  EXPECT_EQ(grants[2].total(), 30);
}

TEST(ShareOutTest, TheCascadeServesNamedSectionsFirst) {  // ASM-34
  const std::vector<BudgetDemand> demands = {{.wanted = 80, .priority = 0.9},
                                             {.wanted = 80, .priority = 0.1, .cascade_place = 1},
                                             {.wanted = 10, .priority = 0.1, .cascade_place = 0}};
  const std::vector<Grant> grants = ShareOut(100, demands);
  EXPECT_EQ(grants[0].total(), 10);
  EXPECT_EQ(grants[1].total(), 80);
  EXPECT_EQ(grants[2].total(), 10);
}

TEST(ShareOutTest, AGrantUnderItsLeastGoesToTheOthers) {  // ASM-35
  const std::vector<BudgetDemand> demands = {
      {.wanted = 90, .weight = 1, .priority = 0.5, .least = 90},
      {.wanted = 90, .weight = 1, .priority = 0.6, .least = 20}};
  const std::vector<Grant> grants = ShareOut(100, demands);
  EXPECT_TRUE(grants[0].dropped);
  EXPECT_EQ(grants[1].total(), 90);
}

TEST(ShareOutTest, NeverGivesMoreThanTheRoomNorLeavesAnyWhileSomeoneIsShort) {  // ASM-30, ASM-34
  Random random(/*seed=*/11);
  for (int round = 0; round < 10'000; ++round) {
    std::vector<BudgetDemand> demands(random.Below(8));
    for (BudgetDemand& demand : demands) {
      demand.wanted = static_cast<std::int64_t>(random.Below(1000));
      demand.floor = static_cast<std::int64_t>(random.Below(3) * random.Below(400));
      demand.weight = static_cast<std::int64_t>(random.Below(4));
      demand.priority = static_cast<double>(random.Below(4)) / 4;
      demand.least = static_cast<std::int64_t>(random.Below(100));
    }
    const auto room = static_cast<std::int64_t>(random.Below(3000));
    const std::vector<Grant> grants = ShareOut(room, demands);
    std::int64_t given = 0;
    bool short_of = false;
    for (std::size_t i = 0; i < grants.size(); ++i) {
      given += grants[i].total();
      EXPECT_LE(grants[i].total(), demands[i].wanted);
      EXPECT_GE(grants[i].total(), 0);
      short_of |= !grants[i].dropped && grants[i].total() < demands[i].wanted;
    }
    EXPECT_LE(given, room) << "round " << round;
    if (short_of) {
      EXPECT_EQ(given, room) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace dossier::assembly
