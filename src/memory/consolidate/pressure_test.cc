#include "memory/consolidate/pressure.h"

#include <gtest/gtest.h>

namespace dossier::memory {
namespace {

Pressure Of(std::int64_t core, std::int64_t events, std::int64_t records = 0) {
  return PressureOf({.core_chars = core, .own_events = events, .own_archival = records}, {});
}

TEST(PressureTest, EachBoundaryOfALevel) {  // MEM-46, MEM-T15
  struct Case {
    std::int64_t core;
    std::int64_t events;
    PressureLevel level;
  };
  constexpr Case kCases[] = {
      {0, 0, PressureLevel::kLow},          {1399, 14, PressureLevel::kLow},
      {1400, 14, PressureLevel::kMedium},   {1699, 17, PressureLevel::kMedium},
      {1700, 17, PressureLevel::kHigh},     {1899, 19, PressureLevel::kHigh},
      {1900, 19, PressureLevel::kCritical}, {0, 1000, PressureLevel::kLow},  // 0.4 at most
      {2000, 7, PressureLevel::kMedium},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Of(c.core, c.events).level, c.level) << c.core << " " << c.events;
  }
}

TEST(PressureTest, RecommendationsStandInOrderAndBehindTheirBoundary) {  // MEM-46, MEM-T15
  using Names = std::vector<std::string>;
  EXPECT_EQ(Of(1400, 14, 100).recommendations, Names{});
  EXPECT_EQ(Of(1401, 15).recommendations, (Names{"compress_core", "summarize_recall"}));
  EXPECT_EQ(Of(1700, 20).recommendations, (Names{"compress_core", "summarize_recall"}));
  EXPECT_EQ(Of(1701, 21, 101).recommendations,
            (Names{"consolidate_recall", "evict_core", "compress_core", "summarize_recall",
                   "prune_archival"}));
}

TEST(PressureTest, TheJsonIsThatOfTheSpecification) {  // MEM-46, 5.4
  const Pressure pressure = PressureOf({.core_chars = 1810,
                                        .core_entries = 14,
                                        .own_events = 18,
                                        .own_archival = 31,
                                        .archival = 31,
                                        .archival_chars = 22840},
                                       {});
  EXPECT_EQ(ToJson(PressureJson(pressure)),
            R"({"pressure_level":"high","core_usage":{"used":1810,"max":2000,"ratio":0.905,)"
            R"("entry_count":14},"recall_usage":{"count":18,"max":20,"ratio":0.9},)"
            R"("archival_usage":{"count":31,"estimated_chars":22840},"recommendations":)"
            R"(["evict_core","compress_core","summarize_recall"],"overall_ratio":0.903})");
  EXPECT_EQ(Of(0, 100).recall_ratio, 2.0);
  EXPECT_EQ(FindPressure(PressureName(PressureLevel::kCritical)), PressureLevel::kCritical);
  EXPECT_FALSE(FindPressure("enormous"));
}

TEST(PressureTest, CoreCountsOwnUnprotectedEntriesAsLines) {  // MEM-11
  const std::vector<CoreEntry> entries = {
      {.key = "RESOURCE_INDEX", .value = "long text", .branch = "n1"},
      {.key = "é", .value = "äö", .branch = "n1"},
      {.key = "b", .value = "c", .branch = "n1"},
      {.key = "inherited", .value = "x", .branch = "root"},
      {.key = "pinned", .value = "x", .pinned = true, .branch = "n1"}};
  EXPECT_EQ(CoreChars(entries, "n1"), 5 + 1 + 4);
  EXPECT_EQ(CoreChars({}, "n1"), 0);
}

}  // namespace
}  // namespace dossier::memory
