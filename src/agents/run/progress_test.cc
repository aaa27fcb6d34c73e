#include "agents/run/progress.h"

#include <gtest/gtest.h>

#include "agents/task/run_log.h"
#include "agents/task/task_json.h"
#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier::agents {
namespace {

using ::dossier::testing::FailsWith;
using Stage = TaskProgress::Stage;

class ProgressTest : public ::testing::Test {
 protected:
  ProgressTest() {
    task_.id = "fact-001";
    task_.summary = "Build";
    task_.description = std::string(9000, 'd');
    RunOptions options{.workers = 3, .only = {"fact-001"}, .attempts = 4};
    options.merging = RunOptions::Merging::kDryRun;
    options.max_cost = 1.5;
    log_ = std::move(*AgentLog::Start({.runs_folder = ground_.path() + "/runs",
                                       .journal_folder = ground_.path() + "/journal",
                                       .clock = SystemClock()},
                                      {{"repository", "/repo/.git"},
                                       {"ref", "refs/heads/main"},
                                       {"policy_sha256", "00"},
                                       {"options", OptionsToJson(options)},
                                       {"tasks", JsonArray{TaskToJson(task_)}}}));
  }

  void Add(std::string_view event, JsonObject data = {}) {
    ASSERT_TRUE(log_->Add(event, event.starts_with("run.") ? "" : "fact-001", std::move(data)));
  }
  RunProgress Read() {
    auto progress = ReadProgress(*log_->journal().Events(log_->run()), log_->journal());
    EXPECT_TRUE(progress) << progress.error().message;
    return std::move(*progress);
  }
  Stage StageNow() { return Read().progress.at("fact-001").stage; }

  const TempFolder ground_ = *TempFolder::Make();
  sources::Task task_;
  std::unique_ptr<AgentLog> log_;
};

TEST_F(ProgressTest, OptionsAndTasksComeBackAsTheyWere) {  // REP-51
  const RunProgress progress = Read();
  EXPECT_EQ(progress.options.workers, 3);
  EXPECT_EQ(progress.options.only, std::vector<std::string>{"fact-001"});
  EXPECT_EQ(progress.options.attempts, 4);
  EXPECT_EQ(progress.options.merging, RunOptions::Merging::kDryRun);
  EXPECT_EQ(progress.options.max_cost, 1.5);
  EXPECT_EQ(progress.options.max_seconds, std::nullopt);
  EXPECT_EQ(progress.repository, "/repo/.git");
  ASSERT_EQ(progress.tasks.size(), 1u);
  // Long texts are stored by hash, and the digest still matches.
  EXPECT_EQ(TaskDigest(progress.tasks[0]), TaskDigest(task_));
}

TEST_F(ProgressTest, TheLastDurableEventSaysWhereToGoOn) {  // REP-51
  EXPECT_EQ(StageNow(), Stage::kNotStarted);
  Add("task.claimed");
  EXPECT_EQ(StageNow(), Stage::kAttempt);
  Add("engine.started", {{"attempt", 2}, {"feedback", std::string(9000, 'f')}});
  EXPECT_EQ(Read().progress.at("fact-001").attempt, 2);
  EXPECT_EQ(Read().progress.at("fact-001").feedback, std::string(9000, 'f'));
  Add("engine.finished");
  Add("patch.taken", {{"base", "b"}, {"candidate", "c"}, {"patch_sha256", "p"}});
  EXPECT_EQ(StageNow(), Stage::kPatchTaken);
  Add("policy.checked");
  Add("review.started");
  EXPECT_EQ(StageNow(), Stage::kReviewed);
  Add("review.finished");
  Add("approval.accepted", {{"base", "b2"}, {"candidate", "c2"}, {"patch_sha256", "p2"}});
  EXPECT_EQ(StageNow(), Stage::kApproved);
  EXPECT_EQ(Read().progress.at("fact-001").candidate, "c2");
  Add("merge.intent", {{"new", "m"}});
  EXPECT_EQ(StageNow(), Stage::kIntent);
  EXPECT_EQ(Read().progress.at("fact-001").commit, "m");
  Add("merge.done", {{"commit", "m"}});
  EXPECT_EQ(StageNow(), Stage::kMerged);
  Add("task.finished", {{"status", "merged"}});
  EXPECT_EQ(StageNow(), Stage::kFinished);
}

TEST_F(ProgressTest, WhatMustNotBeMergedIsNotGoneOnWith) {  // REP-51, REP-34, REP-35
  struct Case {
    const char* what;
    JsonObject finished, taken;
    Stage stage;
  };
  const JsonObject patch = {{"base", "b"}, {"candidate", "c"}, {"patch_sha256", "p"}};
  const auto with = [&](std::string_view key, const Json& value) {
    JsonObject changed = patch;
    changed[key] = value;
    return changed;
  };
  const Case kCases[] = {
      {"a good one", {{"exit", 0}}, with("violations", 0), Stage::kPatchTaken},
      {"a log of before", {}, patch, Stage::kPatchTaken},
      {"the engineer failed", {{"exit", 3}}, patch, Stage::kAttempt},
      {"its time was up", {{"exit", "timeout"}}, patch, Stage::kAttempt},
      {"it was stopped", {{"exit", nullptr}}, patch, Stage::kAttempt},
      {"nothing was changed", {{"exit", 0}}, with("candidate", ""), Stage::kAttempt},
      {"a hook was written", {{"exit", 0}}, with("violations", 1), Stage::kAttempt},
  };
  Add("task.claimed");
  for (std::int64_t attempt = 1; const Case& c : kCases) {
    Add("engine.started", {{"attempt", attempt}});
    Add("engine.finished", c.finished);
    Add("patch.taken", c.taken);
    EXPECT_EQ(StageNow(), c.stage) << c.what;
    EXPECT_EQ(Read().progress.at("fact-001").attempt, attempt++) << c.what;
  }
}

TEST_F(ProgressTest, AnInterruptedTaskIsNotFinished) {  // REP-51, REP-52
  Add("task.claimed");
  Add("patch.taken", {{"base", "b"}, {"candidate", "c"}, {"patch_sha256", "p"}});
  Add("task.finished", {{"status", "interrupted"}});
  Add("run.finished", {{"status", "interrupted"}});
  EXPECT_EQ(StageNow(), Stage::kPatchTaken);
  EXPECT_FALSE(Read().finished);
  Add("run.resumed");
  Add("task.claimed");
  EXPECT_EQ(StageNow(), Stage::kPatchTaken);
  Add("task.finished", {{"status", "needs-fix"}});
  Add("run.finished", {{"status", "partial"}});
  EXPECT_EQ(StageNow(), Stage::kFinished);
  EXPECT_TRUE(Read().finished);
}

TEST_F(ProgressTest, AResumedRunHasWhatIsLeftOfItsLimits) {  // REP-51
  for (const char* event : {"engine.finished", "review.finished"}) {
    Add(event, {{"usage", JsonObject{{"input", 100}, {"output", 20}, {"cost_usd", 0.9}}}});
  }
  const RunProgress progress = Read();
  EXPECT_EQ(progress.spent.usage.input, 200);
  EXPECT_EQ(progress.spent.usage.output, 40);
  EXPECT_EQ(progress.spent.usage.cost_nano_usd, 1'800'000'000);
  const RunBudget used(progress.options, {}, SystemClock(), progress.spent);  // limit: 1.5 USD
  EXPECT_TRUE(used.used_up().has_value());
  EXPECT_TRUE(used.token().cancelled());
  const RunBudget late({.max_seconds = 60}, {}, SystemClock(), {.usage = {}, .seconds = 60});
  EXPECT_TRUE(late.used_up().has_value());
}

TEST_F(ProgressTest, ALargeLimitIsNoSmallOne) {
  const RunBudget budget({.max_seconds = 9.3e9, .max_cost = 1e11}, {}, SystemClock());
  EXPECT_EQ(budget.used_up(), std::nullopt);
  EXPECT_FALSE(budget.token().cancelled());
}

TEST_F(ProgressTest, AnotherKindOfRunIsRefused) {  // REP-51
  auto journal = store::Journal::Open(ground_.path() + "/journal");
  ASSERT_TRUE(journal);
  const auto run = (*journal)->StartRun({{"question", "How many?"}});
  EXPECT_THAT(ReadProgress(*(*journal)->Events(*run), **journal),
              FailsWith(ErrorCode::kDamaged, "no run of `dossier agents`"));
}

}  // namespace
}  // namespace dossier::agents
