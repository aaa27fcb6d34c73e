#include "base/task_group.h"

#include <gtest/gtest.h>

#include "testing/no_threads.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

TEST(TaskGroupTest, WorkWithoutAThreadIsAnError) {
  std::atomic<int> done = 0;
  {
    TaskGroup tasks;
    {
      const testing::NoThreads none;
      EXPECT_THAT(tasks.Run([&done] { ++done; }), FailsWith(ErrorCode::kLimit, "no thread for it"));
    }
    EXPECT_EQ(done, 0);
    EXPECT_THAT(tasks.Run([&done] { ++done; }), Succeeds());
  }
  EXPECT_EQ(done, 1);
}

TEST(TaskGroupTest, WorkThatMustBeDoneIsDoneWithoutAThread) {
  std::atomic<int> done = 0;
  TaskGroup tasks;
  const testing::NoThreads none;
  tasks.RunOrDo([&done] { ++done; });
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace dossier
