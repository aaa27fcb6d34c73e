#include "agents/run/task_queue.h"

#include <gtest/gtest.h>

#include "agents/task/task_json.h"
#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier::agents {
namespace {

TEST(TaskQueueTest, OnlyFilesOfAFolderQueueHaveAPlaceInIt) {  // REP-31
  EXPECT_EQ(PathInQueue("tasks/pending/a.json", Queue::kCurrent), "tasks/current/a.json");
  EXPECT_EQ(PathInQueue("x/y/complete/a.edn", Queue::kPending), "x/y/pending/a.edn");
  EXPECT_EQ(PathInQueue("pending/a.edn", Queue::kComplete), "complete/a.edn");
  EXPECT_EQ(PathInQueue("config/tasks.edn", Queue::kCurrent), std::nullopt);
  EXPECT_EQ(PathInQueue("tasks.json", Queue::kCurrent), std::nullopt);
}

TEST(TaskQueueTest, ATaskMovesFromWhereverItIs) {  // REP-31, A28
  const TempFolder ground = *TempFolder::Make();
  const std::string& root = ground.path();
  ASSERT_TRUE(MakeFolders(root + "/tasks/pending"));
  ASSERT_TRUE(WriteFileAtomic(root + "/tasks/pending/a.json", "{}"));
  ASSERT_TRUE(MoveTask(root, "tasks/pending/a.json", Queue::kCurrent));
  EXPECT_FALSE(Exists(root + "/tasks/pending/a.json"));
  EXPECT_TRUE(Exists(root + "/tasks/current/a.json"));
  ASSERT_TRUE(MoveTask(root, "tasks/pending/a.json", Queue::kCurrent));
  ASSERT_TRUE(MoveTask(root, "tasks/pending/a.json", Queue::kComplete));
  EXPECT_TRUE(Exists(root + "/tasks/complete/a.json"));
  ASSERT_TRUE(MoveTask(root, "tasks/pending/none.json", Queue::kComplete));
}

TEST(TaskQueueTest, AnotherTaskOfThatNameIsNotReplaced) {  // REP-31
  const TempFolder ground = *TempFolder::Make();
  const std::string& root = ground.path();
  for (const char* folder : {"pending", "complete"}) {
    ASSERT_TRUE(MakeFolders(fmt::format("{}/tasks/{}", root, folder)));
    ASSERT_TRUE(WriteFileAtomic(fmt::format("{}/tasks/{}/a.json", root, folder), folder));
  }
  EXPECT_EQ(*MoveTask(root, "tasks/pending/a.json", Queue::kComplete), "tasks/complete/a-2.json");
  EXPECT_EQ(ReadFile(root + "/tasks/complete/a.json").value_or(""), "complete");
  EXPECT_EQ(ReadFile(root + "/tasks/complete/a-2.json").value_or(""), "pending");
}

TEST(TaskQueueTest, ANewFileOfThatNameIsNotTakenForTheClaimedOne) {  // REP-31
  const TempFolder ground = *TempFolder::Make();
  const std::string& root = ground.path();
  for (const char* folder : {"pending", "current"}) {
    ASSERT_TRUE(MakeFolders(fmt::format("{}/tasks/{}", root, folder)));
    ASSERT_TRUE(WriteFileAtomic(fmt::format("{}/tasks/{}/a.json", root, folder), folder));
  }
  EXPECT_EQ(*MoveTask(root, "tasks/current/a.json", Queue::kComplete), "tasks/complete/a.json");
  EXPECT_EQ(ReadFile(root + "/tasks/complete/a.json").value_or(""), "current");
  EXPECT_EQ(ReadFile(root + "/tasks/pending/a.json").value_or(""), "pending");
}

TEST(TaskJsonTest, ATaskComesBackAsItWasAndAnyChangeShows) {  // REP-51
  sources::Task task;
  task.id = "fact-001";
  task.summary = "Build";
  task.targets = {"src", "tests"};
  task.dependencies = {"a"};
  task.priority = 3;
  task.file = "config/tasks.edn";
  EXPECT_EQ(TaskFromJson(Json(TaskToJson(task))), task);
  sources::Task other = task;
  other.file = "tasks/current/a.json";
  EXPECT_EQ(TaskDigest(other), TaskDigest(task));
  other.targets = {"src,tests"};
  EXPECT_NE(TaskDigest(other), TaskDigest(task));
}

}  // namespace
}  // namespace dossier::agents
