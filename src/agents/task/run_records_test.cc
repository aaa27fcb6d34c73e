#include "agents/task/run_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"

namespace dossier::agents {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(RunRecordsTest, TheLastResultOfEachTaskCounts) {  // REP-50, A30
  const TempFolder ground = *TempFolder::Make();
  const std::string path = ground.path() + "/run-1.jsonl";
  ASSERT_TRUE(WriteFileAtomic(path,
                              R"({"v":1,"run":"run-1","seq":1,"time":"t","event":"run.started"}
{"v":1,"run":"run-1","seq":2,"time":"t","event":"task.finished","task-id":"a","status":"interrupted"}
garbage
{"task-id":"a","status":"merged","merge":{"status":"merged","hash":"00","commit":"abc"},"timestamp":5}
{"task-id":"b","status":"needs-fix","timestamp":6}
{"v":1,"run":"run-1","seq":3,"ti)"));
  const auto record = ReadRunLog(path);
  ASSERT_TRUE(record);
  EXPECT_THAT(record->counts, ElementsAre(Pair("merged", 1), Pair("needs-fix", 1)));
  EXPECT_EQ(record->skipped_lines, 2u);
  EXPECT_EQ(record->tasks.at("a").commit, "abc");
  EXPECT_FALSE(record->finished);
}

TEST(RunRecordsTest, TheNewestRunIsToldByItsTimeAndNotByItsName) {  // REP-50, 3.2 (status)
  const TempFolder ground = *TempFolder::Make();
  const auto log = [&](const std::string& name, const std::string& line) {
    EXPECT_TRUE(WriteFileAtomic(fmt::format("{}/{}.jsonl", ground.path(), name), line + "\n"));
  };
  const auto started = [](const std::string& time) {
    return fmt::format(R"({{"v":1,"run":"r","seq":1,"time":"{}","event":"run.started"}})", time);
  };
  const auto newest = [&] {
    const std::string path = NewestRunLog(RunLogFiles(ground.path()));
    return path.empty() ? path : path.substr(ground.path().size() + 1);
  };
  EXPECT_EQ(newest(), "");
  log("run-20260117-100000-ff0000", started("2026-01-17T10:00:00.100Z"));
  log("run-20260117-100000-000000", started("2026-01-17T10:00:00.900Z"));
  EXPECT_EQ(newest(), "run-20260117-100000-000000.jsonl") << "two of one second";
  log("a-renamed-one", started("2026-01-18T09:00:00.000Z"));
  EXPECT_EQ(newest(), "a-renamed-one.jsonl");
  log("agentnet", R"({"task-id":"a","status":"merged","timestamp":1800000000000})");
  EXPECT_EQ(newest(), "agentnet.jsonl") << "of a day in 2027";
}

TEST(RunRecordsTest, OtherRunsAreSeenAsTheyGrow) {  // REP-32, REP-49
  const TempFolder ground = *TempFolder::Make();
  RunRecords records(ground.path());
  ASSERT_TRUE(records.Refresh());
  EXPECT_FALSE(records.FindMerge("a"));
  const std::string path = ground.path() + "/run-1.jsonl";
  ASSERT_TRUE(
      WriteFileAtomic(path, "{\"task-id\":\"a\",\"status\":\"needs-fix\",\"timestamp\":5}\n"));
  ASSERT_TRUE(records.Refresh());
  EXPECT_FALSE(records.FindMerge("a"));
  EXPECT_EQ(records.FindSince("a", "run-2", 5)->run, "run-1");
  EXPECT_FALSE(records.FindSince("a", "run-2", 6));
  EXPECT_FALSE(records.FindSince("a", "run-1", 0));
  ASSERT_TRUE(WriteFileAtomic(path,
                              "{\"task-id\":\"a\",\"status\":\"needs-fix\",\"timestamp\":5}\n"
                              "{\"task-id\":\"a\",\"status\":\"merged\",\"timestamp\":7}\n"));
  ASSERT_TRUE(records.Refresh());
  EXPECT_EQ(records.FindMerge("a")->record.timestamp, 7);
}

TEST(RunRecordsTest, AMergeCountsAlsoIfTheRunWasKilledBehindIt) {  // REP-49, REP-51
  const TempFolder ground = *TempFolder::Make();
  ASSERT_TRUE(WriteFileAtomic(
      ground.path() + "/run-1.jsonl",
      R"({"v":1,"run":"run-1","seq":1,"time":"2026-01-17T10:00:00.100Z","event":"task.claimed","task-id":"a","task-digest":"d1"}
{"v":1,"run":"run-1","seq":2,"time":"2026-01-17T10:00:00.900Z","event":"merge.done","task-id":"a","commit":"abc"}
)"));
  RunRecords records(ground.path());
  ASSERT_TRUE(records.Refresh());
  const auto merge = records.FindMerge("a");
  ASSERT_TRUE(merge);
  EXPECT_EQ(merge->record.commit, "abc");
  EXPECT_EQ(merge->record.digest, "d1");
  EXPECT_EQ(merge->record.timestamp, 1768644000900);
}

}  // namespace
}  // namespace dossier::agents
