#include "agents/run/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace dossier::agents {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Tasks = std::vector<sources::Task>;

sources::Task MakeTask(std::string id, std::int64_t priority,
                       std::vector<std::string> dependencies = {}) {
  sources::Task task;
  task.id = std::move(id);
  task.priority = priority;
  task.dependencies = std::move(dependencies);
  return task;
}

std::vector<std::string> Ids(const Schedule& schedule, const Tasks& items) {
  std::vector<std::string> ids;
  for (const std::size_t task : schedule.Order()) ids.push_back(items[task].id);
  return ids;
}

TEST(ScheduleTest, TasksStartByPriorityThenIdAsBytesThenPlace) {  // REP-5, A1
  const Tasks items = {MakeTask("b", 2), MakeTask("a", 2), MakeTask("10", 1), MakeTask("9", 1),
                       MakeTask("B", 2)};
  EXPECT_THAT(Ids(Schedule(items, {}, {}), items), ElementsAre("10", "9", "B", "a", "b"));
}

TEST(ScheduleTest, ATaskWaitsForAllThatItDependsOn) {  // REP-32, A28
  const Tasks items = {MakeTask("last", 1, {"first", "second"}), MakeTask("second", 9, {"first"}),
                       MakeTask("first", 9)};
  Schedule schedule(items, {}, {});
  EXPECT_EQ(schedule.Take(), 2u);
  EXPECT_EQ(schedule.Take(), std::nullopt);
  EXPECT_FALSE(schedule.done());
  EXPECT_THAT(schedule.Finish(2, Schedule::Ended::kMerged), IsEmpty());
  EXPECT_EQ(schedule.Take(), 1u);
  EXPECT_EQ(schedule.Take(), std::nullopt);
  schedule.Finish(1, Schedule::Ended::kMerged);
  EXPECT_EQ(schedule.Take(), 0u);
  schedule.Finish(0, Schedule::Ended::kMerged);
  EXPECT_TRUE(schedule.done());
}

TEST(ScheduleTest, WhatIsNotMergedBlocksAllThatHangsOnIt) {  // REP-32, A28
  const Tasks items = {MakeTask("a", 1), MakeTask("b", 1, {"a"}), MakeTask("c", 1, {"b"}),
                       MakeTask("d", 2)};
  Schedule schedule(items, {}, {});
  ASSERT_EQ(schedule.Take(), 0u);
  const std::vector<Blocked> blocked = schedule.Finish(0, Schedule::Ended::kOther);
  ASSERT_EQ(blocked.size(), 2u);
  EXPECT_EQ(blocked[0].task, 1u);
  EXPECT_EQ(blocked[0].reason, "a, which it depends on, was not merged");
  EXPECT_EQ(blocked[1].task, 2u);
  EXPECT_EQ(blocked[1].reason, "b, which it depends on, was not merged");
  EXPECT_EQ(schedule.Take(), 3u);
  EXPECT_EQ(schedule.waiting(), 0u);
}

TEST(ScheduleTest, ADependencyThatARecordedRunMergedIsThere) {  // REP-32
  const Tasks items = {MakeTask("a", 1), MakeTask("b", 1, {"a"})};
  Schedule schedule(items, {"a"}, {"a"});
  EXPECT_EQ(schedule.Take(), 1u);
}

TEST(ScheduleTest, ADependencyThatIsLeftOutBlocks) {  // REP-32
  const Tasks items = {MakeTask("a", 1), MakeTask("b", 1, {"a"})};
  const Schedule schedule(items, {}, {"a"});
  ASSERT_EQ(schedule.blocked().size(), 1u);
  EXPECT_EQ(schedule.blocked()[0].reason,
            "a, which it depends on, is not merged and not part of this run");
  EXPECT_TRUE(schedule.done());
}

TEST(ScheduleTest, WhateverTheGraphEveryTaskEndsOnceAndAfterWhatItNeeds) {  // REP-32
  Random random(/*seed=*/32);
  for (int round = 0; round < 300; ++round) {
    Tasks items;
    const std::size_t count = 1 + random.Below(20);
    for (std::size_t i = 0; i < count; ++i) {
      sources::Task item = MakeTask(std::to_string(i), static_cast<std::int64_t>(random.Below(3)));
      for (std::size_t j = 0; j < i; ++j) {
        if (random.Below(4) == 0) item.dependencies.push_back(std::to_string(j));
      }
      items.push_back(std::move(item));
    }
    Schedule schedule(items, {}, {});
    std::vector<int> merged(count, 0), ended(count, 0);
    while (const auto task = schedule.Take()) {
      for (const std::string& id : items[*task].dependencies) EXPECT_EQ(merged[std::stoul(id)], 1);
      const bool good = random.Below(5) != 0;
      merged[*task] += good ? 1 : 0;
      ++ended[*task];
      for (const Blocked& one :
           schedule.Finish(*task, good ? Schedule::Ended::kMerged : Schedule::Ended::kOther)) {
        ++ended[one.task];
      }
    }
    EXPECT_TRUE(schedule.done());
    EXPECT_THAT(ended, ::testing::Each(1));
  }
}

}  // namespace
}  // namespace dossier::agents
