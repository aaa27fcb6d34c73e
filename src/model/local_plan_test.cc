#include "model/local_plan.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;

constexpr std::uint64_t kGigabyte = 1'000'000'000;
constexpr std::uint64_t kWeights = 1'117'320'768;

TEST(LocalPlanTest, TheLargestWindowThatFitsIntoHalfOfWhatIsFree) {  // MOD-33
  struct Case {
    std::uint64_t free;
    std::int64_t window;
  };
  constexpr Case kCases[] = {
      {16 * kGigabyte, 16384}, {4 * kGigabyte, 16384}, {3'600'000'000, 8192},
      {3'200'000'000, 4096},   {2 * kGigabyte, 4096},  {0, 16384},
  };
  for (const Case& c : kCases) {
    const auto plan = PlanServer({.free_memory = c.free, .cores = 2}, {.weights = kWeights});
    ASSERT_TRUE(plan) << c.free;
    EXPECT_EQ(plan->window, c.window) << c.free;
    EXPECT_EQ(plan->slots, 1);
    EXPECT_EQ(plan->threads, 2);
  }
}

TEST(LocalPlanTest, TooLittleMemoryIsRefusedWithNumbersAndAWayOut) {  // MOD-34
  const auto plan = PlanServer({.free_memory = kGigabyte, .cores = 2}, {.weights = kWeights});
  EXPECT_THAT(plan, FailsWith(ErrorCode::kUnavailable, "1.6 GB"));
  EXPECT_THAT(plan, FailsWith(ErrorCode::kUnavailable, "1.0 GB are free"));
  EXPECT_THAT(plan, FailsWith(ErrorCode::kUnavailable, "--base-url"));
}

TEST(LocalPlanTest, TheUsersWindowIsTakenAsItIs) {  // MOD-33
  const auto plan = PlanServer({.free_memory = 3 * kGigabyte, .cores = 2},
                               {.weights = kWeights, .window = 12000});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->window, 12000);
}

TEST(LocalPlanTest, SlotsGrowWithTheCores) {  // MOD-33
  constexpr std::pair<int, int> kCases[] = {{1, 1}, {2, 1}, {4, 1}, {8, 2}, {16, 4}, {64, 4}};
  for (const auto& [cores, slots] : kCases) {
    const auto plan =
        PlanServer({.free_memory = 64 * kGigabyte, .cores = cores}, {.weights = kWeights});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->slots, slots) << cores;
    EXPECT_EQ(plan->threads, cores);
  }
}

TEST(LocalPlanTest, FreeMemoryIsReadFromTheKernelsTable) {
  EXPECT_EQ(FreeMemory("MemTotal:  8 kB\nMemAvailable:   123 kB\n"), 123u << 10);
  EXPECT_EQ(FreeMemory("MemTotal:  8 kB\n"), 0u);
  EXPECT_EQ(FreeMemory("MemAvailable:   99999999999999999999 kB\n"), 0u);
  EXPECT_EQ(FreeMemory("MemAvailable:   18446744073709551615 kB\n"), 0u);
}

TEST(LocalPlanTest, PhysicalCoresAreDifferentPairsOfPackageAndCore) {  // MOD-33
  const std::string two_threads_a_core =
      "physical id : 0\ncore id : 0\n\nphysical id : 0\ncore id : 1\n\n"
      "physical id : 0\ncore id : 0\n\nphysical id : 0\ncore id : 1\n";
  EXPECT_EQ(PhysicalCores(two_threads_a_core, 4), 2);
  EXPECT_EQ(PhysicalCores(two_threads_a_core, 1), 1);
  EXPECT_EQ(PhysicalCores("physical id:0\ncore id:0\nphysical id:1\ncore id:0\n", 2), 2);
  EXPECT_EQ(PhysicalCores("model name : unknown\n", 3), 3);
}

TEST(LocalPlanTest, AnyTextIsReadWithoutHarm) {
  Random random(/*seed=*/11);
  for (int round = 0; round < 500; ++round) {
    const std::string text = "MemAvailable:" + random.Bytes(40) + "\ncore id:" + random.Bytes(20);
    FreeMemory(text);
    EXPECT_GE(PhysicalCores(text, 2), 1);
    EXPECT_LE(PhysicalCores(text, 2), 2);
  }
}

}  // namespace
}  // namespace dossier::model
