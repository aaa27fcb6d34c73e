#include "harness/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::harness {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Ids(const Schedule& schedule, const std::vector<ScheduleItem>& items) {
  std::vector<std::string> ids;
  for (const std::size_t task : schedule.Order()) ids.push_back(items[task].id);
  return ids;
}

TEST(ScheduleTest, TasksStartByPriorityThenIdAsBytesThenPlace) {  // REP-5, A1
  const std::vector<ScheduleItem> items = {{"b", 2}, {"a", 2}, {"10", 1}, {"9", 1}, {"B", 2}};
  const auto schedule = Schedule::Make(items, {});
  ASSERT_TRUE(schedule);
  EXPECT_THAT(Ids(*schedule, items), ElementsAre("10", "9", "B", "a", "b"));
}

TEST(ScheduleTest, ATaskWaitsForAllThatItDependsOn) {  // REP-32, A28
  const std::vector<ScheduleItem> items = {
      {"last", 1, {"first", "second"}}, {"second", 9, {"first"}}, {"first", 9}};
  auto schedule = Schedule::Make(items, {});
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->Take(), 2u);
  EXPECT_EQ(schedule->Take(), std::nullopt);
  EXPECT_FALSE(schedule->done());
  EXPECT_THAT(schedule->Finish(2, Schedule::Ended::kMerged), IsEmpty());
  EXPECT_EQ(schedule->Take(), 1u);
  EXPECT_EQ(schedule->Take(), std::nullopt);
  schedule->Finish(1, Schedule::Ended::kMerged);
  EXPECT_EQ(schedule->Take(), 0u);
  schedule->Finish(0, Schedule::Ended::kMerged);
  EXPECT_TRUE(schedule->done());
}

TEST(ScheduleTest, WhatIsNotMergedBlocksAllThatHangsOnIt) {  // REP-32, A28
  const std::vector<ScheduleItem> items = {{"a", 1}, {"b", 1, {"a"}}, {"c", 1, {"b"}}, {"d", 2}};
  auto schedule = Schedule::Make(items, {});
  ASSERT_TRUE(schedule);
  ASSERT_EQ(schedule->Take(), 0u);
  const std::vector<Blocked> blocked = schedule->Finish(0, Schedule::Ended::kOther);
  ASSERT_EQ(blocked.size(), 2u);
  EXPECT_EQ(blocked[0].task, 1u);
  EXPECT_EQ(blocked[0].reason, "a, which it depends on, was not merged");
  EXPECT_EQ(blocked[1].task, 2u);
  EXPECT_EQ(blocked[1].reason, "b, which it depends on, was not merged");
  EXPECT_EQ(schedule->Take(), 3u);
  EXPECT_EQ(schedule->waiting(), 0u);
}

TEST(ScheduleTest, ADependencyThatARecordedRunMergedIsThere) {  // REP-32
  const std::vector<ScheduleItem> items = {{"b", 1, {"a"}}};
  EXPECT_THAT(Schedule::Make(items, {}),
              FailsWith(ErrorCode::kConfig, "task b: there is no task a"));
  auto schedule = Schedule::Make(items, {"a"});
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->Take(), 0u);
}

TEST(ScheduleTest, ADependencyThatIsLeftOutBlocks) {  // REP-32
  const std::vector<ScheduleItem> items = {{"a", 1, {}, ScheduleItem::Part::kLeftOut},
                                           {"b", 1, {"a"}}};
  const auto schedule = Schedule::Make(items, {});
  ASSERT_TRUE(schedule);
  ASSERT_EQ(schedule->blocked().size(), 1u);
  EXPECT_EQ(schedule->blocked()[0].reason,
            "a, which it depends on, is not merged and not part of this run");
  EXPECT_TRUE(schedule->done());
}

TEST(ScheduleTest, ACycleIsShown) {  // REP-32, A28
  const std::vector<ScheduleItem> items = {
      {"x", 1, {"a"}}, {"a", 1, {"b"}}, {"b", 1, {"c"}}, {"c", 1, {"a"}}};
  EXPECT_THAT(Schedule::Make(items, {}), FailsWith(ErrorCode::kConfig, "a -> b -> c -> a"));
  const std::vector<ScheduleItem> self = {{"a", 1, {"a"}}};
  EXPECT_THAT(Schedule::Make(self, {}), FailsWith(ErrorCode::kConfig, "a -> a"));
}

TEST(ScheduleTest, AnUnknownIdNamesTheNearest) {  // REP-32, section 6
  const std::vector<ScheduleItem> items = {{"fact-001", 1}, {"b", 1, {"fact-01"}}};
  EXPECT_THAT(Schedule::Make(items, {}), FailsWith(ErrorCode::kConfig, "did you mean fact-001?"));
}

TEST(ScheduleTest, ALongChainNeedsNoDeepStack) {  // REP-32
  std::vector<ScheduleItem> items;
  for (int i = 0; i < 20'000; ++i) {
    items.push_back({fmt::format("t{:05}", i), 1, {}});
    if (i > 0) items.back().dependencies.push_back(items[items.size() - 2].id);
  }
  EXPECT_TRUE(Schedule::Make(items, {}));
}

TEST(ScheduleTest, WhateverTheGraphEveryTaskEndsOnceAndAfterWhatItNeeds) {  // REP-32
  Random random(/*seed=*/32);
  for (int round = 0; round < 300; ++round) {
    std::vector<ScheduleItem> items;
    const std::size_t count = 1 + random.Below(20);
    for (std::size_t i = 0; i < count; ++i) {
      ScheduleItem item{std::to_string(i), static_cast<std::int64_t>(random.Below(3)), {}};
      for (std::size_t j = 0; j < i; ++j) {
        if (random.Below(4) == 0) item.dependencies.push_back(std::to_string(j));
      }
      items.push_back(std::move(item));
    }
    auto schedule = Schedule::Make(items, {});
    ASSERT_TRUE(schedule);
    std::vector<int> merged(count, 0), ended(count, 0);
    while (const auto task = schedule->Take()) {
      for (const std::string& id : items[*task].dependencies) EXPECT_EQ(merged[std::stoul(id)], 1);
      const bool good = random.Below(5) != 0;
      merged[*task] += good ? 1 : 0;
      ++ended[*task];
      for (const Blocked& one :
           schedule->Finish(*task, good ? Schedule::Ended::kMerged : Schedule::Ended::kOther)) {
        ++ended[one.task];
      }
    }
    EXPECT_TRUE(schedule->done());
    EXPECT_THAT(ended, ::testing::Each(1));
  }
}

}  // namespace
}  // namespace dossier::harness
