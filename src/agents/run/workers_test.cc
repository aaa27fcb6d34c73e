#include "agents/run/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "testing/result_matchers.h"

namespace dossier::agents {
namespace {

using ::dossier::testing::FailsWith;

std::vector<sources::Task> Chainless(int count) {
  std::vector<sources::Task> tasks(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) tasks[static_cast<std::size_t>(i)].id = std::to_string(i);
  return tasks;
}

WorkerParts Parts(std::function<Result<Schedule::Ended>(std::size_t, int)> work) {
  return {.count = 8,
          .work = std::move(work),
          .blocked = [](const Blocked&) { return Status(); },
          .stopped = [] { return false; }};
}

TEST(WorkersTest, EveryTaskIsWorkedOnOnce) {  // REP-32
  const auto tasks = Chainless(200);
  Schedule schedule(tasks, {}, {});
  std::vector<std::atomic<int>> worked(tasks.size());
  ASSERT_TRUE(Workers(schedule, Parts([&](std::size_t task, int) -> Result<Schedule::Ended> {
                        ++worked[task];
                        return Schedule::Ended::kMerged;
                      }))
                  .Run());
  for (const auto& count : worked) EXPECT_EQ(count, 1);
}

TEST(WorkersTest, WaitingWorkersWakeForWhatBecomesReadyAndWhatIsBlocked) {  // REP-32
  auto tasks = Chainless(6);
  tasks[1].dependencies = {"0"};
  tasks[2].dependencies = {"1"};
  tasks[4].dependencies = {"3"};
  tasks[5].dependencies = {"4"};
  Schedule schedule(tasks, {}, {});
  std::atomic<int> worked = 0, blocked = 0;
  WorkerParts parts = Parts([&](std::size_t task, int) -> Result<Schedule::Ended> {
    ++worked;
    return task == 3 ? Schedule::Ended::kOther : Schedule::Ended::kMerged;
  });
  parts.blocked = [&](const Blocked&) {
    ++blocked;
    return Status();
  };
  ASSERT_TRUE(Workers(schedule, parts).Run());
  EXPECT_EQ(worked, 4);
  EXPECT_EQ(blocked, 2);
}

TEST(WorkersTest, AnErrorOrAStopTakesNothingMore) {  // REP-52, section 6
  const auto tasks = Chainless(50);
  Schedule failing(tasks, {}, {});
  std::atomic<int> worked = 0;
  WorkerParts parts = Parts([&](std::size_t, int) -> Result<Schedule::Ended> {
    ++worked;
    return MakeError(ErrorCode::kIo, "the disk is full");
  });
  parts.count = 1;
  EXPECT_THAT(Workers(failing, parts).Run(), FailsWith(ErrorCode::kIo, "the disk is full"));
  EXPECT_EQ(worked, 1);
  Schedule stopped(tasks, {}, {});
  parts.stopped = [] { return true; };
  EXPECT_TRUE(Workers(stopped, parts).Run());
  EXPECT_EQ(worked, 1);
}

}  // namespace
}  // namespace dossier::agents
