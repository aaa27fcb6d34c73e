#include "model/local/local_plan.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;

constexpr std::uint64_t kGigabyte = 1'000'000'000;
constexpr std::uint64_t kWeightsBytes = 1'117'320'768;

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
    const auto plan = PlanServer({.free_memory = c.free, .cores = 2}, {.weights = kWeightsBytes});
    ASSERT_TRUE(plan) << c.free;
    EXPECT_EQ(plan->window, c.window) << c.free;
    EXPECT_EQ(plan->slots, 1);
    EXPECT_EQ(plan->threads, 2);
  }
}

TEST(LocalPlanTest, TooLittleMemoryIsRefusedWithNumbersAndAWayOut) {  // MOD-34
  const auto plan = PlanServer({.free_memory = kGigabyte, .cores = 2}, {.weights = kWeightsBytes});
  EXPECT_THAT(plan, FailsWith(ErrorCode::kUnavailable, "1.6 GB"));
  EXPECT_THAT(plan, FailsWith(ErrorCode::kUnavailable, "1.0 GB are free"));
  EXPECT_THAT(plan, FailsWith(ErrorCode::kUnavailable, "--base-url"));
}

TEST(LocalPlanTest, TheUsersWindowIsTakenAsItIs) {  // MOD-33
  const auto plan = PlanServer({.free_memory = 3 * kGigabyte, .cores = 2},
                               {.weights = kWeightsBytes, .window = 12000});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->window, 12000);
}

TEST(LocalPlanTest, NoWindowIsLongerThanTheModelWasMadeFor) {  // MOD-33
  const Machine machine{.free_memory = 64 * kGigabyte, .cores = 2};
  const auto refused =
      PlanServer(machine, {.weights = kWeightsBytes, .window = 65536, .longest = 32768});
  EXPECT_THAT(refused, FailsWith(ErrorCode::kInvalidArgument,
                                 "65,536 tokens is longer than the "
                                 "32,768 that this model was made for"));
  const auto whole =
      PlanServer(machine, {.weights = kWeightsBytes, .window = 32768, .longest = 32768});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->window, 32768);
  const auto small = PlanServer(machine, {.weights = kWeightsBytes, .longest = 2048});
  ASSERT_TRUE(small);
  EXPECT_EQ(small->window, 2048) << "of an old model";
}

TEST(LocalPlanTest, WhatTheFileSaysOfTheModelCounts) {  // MOD-33
  const auto number = [](std::string_view name, std::uint32_t value) {
    const std::uint64_t size = name.size();
    const std::uint32_t kind = 4;
    return std::string(reinterpret_cast<const char*>(&size), 8) + std::string(name) +
           std::string(reinterpret_cast<const char*>(&kind), 4) +
           std::string(reinterpret_cast<const char*>(&value), 4);
  };
  const std::uint32_t version = 3;
  const std::uint64_t counts[] = {0, 5};
  const auto folder = TempFolder::Make();
  const Weights weights{"old", folder->path() + "/old.gguf", 1000};
  ASSERT_TRUE(WriteFileAtomic(
      weights.path, "GGUF" + std::string(reinterpret_cast<const char*>(&version), 4) +
                        std::string(reinterpret_cast<const char*>(counts), 16) +
                        number("llama.context_length", 2048) + number("llama.block_count", 10) +
                        number("llama.attention.head_count", 4) +
                        number("llama.attention.key_length", 64) +
                        number("llama.attention.value_length", 32)));
  EXPECT_EQ(NeedsOf(weights).longest, 2048);
  EXPECT_EQ(NeedsOf(weights).kv_bytes, 10u * 4 * (64 + 32) * 2);
  ASSERT_TRUE(WriteFileAtomic(weights.path, "GGUF and nothing of use"));
  EXPECT_EQ(NeedsOf(weights).longest, std::nullopt);
  EXPECT_EQ(NeedsOf(weights).kv_bytes, kDefaultKvBytes);
}

TEST(LocalPlanTest, SlotsGrowWithTheCores) {  // MOD-33
  constexpr std::pair<int, int> kCases[] = {{1, 1}, {2, 1}, {4, 1}, {8, 2}, {16, 4}, {64, 4}};
  for (const auto& [cores, slots] : kCases) {
    const auto plan =
        PlanServer({.free_memory = 64 * kGigabyte, .cores = cores}, {.weights = kWeightsBytes});
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
