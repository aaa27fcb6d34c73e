#include "research/node/phase1.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "research/files/phase_files.h"
#include "research/node/phases.h"
#include "testing/phases_rig_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// RSP-26, RSP-T8: how phase 1 ends.
struct InstallCase {
  std::string name;
  std::vector<std::string> replies;
  std::string end;  // part of exc_info; "": done
  std::size_t steps;
};
TEST_F(PhasesTest, PhaseOneEndsAsItsRepliesSay) {  // RSP-26, RSP-T8
  const std::string kOk = R"({"command": "ok"})", kBad = R"({"command": "bad"})";
  const InstallCase cases[] = {
      {"done at once", {std::string(kDone)}, "", 0},
      {"a command beside done runs first", {R"({"command": "ok", "done": true})"}, "", 1},
      {"a failed one beside done", {R"({"command": "bad", "done": true})"}, "bad (exit code 2)", 1},
      {"done after a failure", {kBad, std::string(kDone)}, "called done after a command", 1},
      {"done after a repair", {kBad, kOk, std::string(kDone)}, "", 2},
      {"no command, not done", {R"({"command": "", "done": false})"}, "has no command", 0},
      {"the limit", {kOk, kOk, kOk, kOk}, "not done after 4 steps", 4},
      {"a container engine",
       {R"({"command": "apptainer exec x make"})", kOk, std::string(kDone)},
       "",
       2},
      {"sudo", {R"({"command": "sudo make install"})", kOk, std::string(kDone)}, "", 2},
  };
  script_->On("ok");
  script_->On("bad").Fails(2, "no network");
  script_->On("test -e tool");
  int number = 0;
  for (const InstallCase& c : cases) {
    SCOPED_TRACE(c.name);
    work_.node_id = fmt::format("{:032}", ++number);
    work_.workspace = Path(fmt::format("nodes/{}/workspace", number));
    work_.last = Phase::kInstall;
    caller_ = {};
    caller_.Next("phase0_plan", kPlan);
    for (std::size_t i = 0; i < c.replies.size(); ++i) {
      caller_.Next(fmt::format("phase1_step{}", i), c.replies[i]);
    }
    const PhasesOutcome outcome = Run();
    EXPECT_EQ(outcome.exc_type, c.end.empty() ? "" : "DownloadError");
    EXPECT_THAT(outcome.exc_info, HasSubstr(c.end));
    EXPECT_EQ(FindInt(*Find(outcome.history, "phase1_steps_summary"), "total_steps"),
              static_cast<std::int64_t>(c.steps));
  }
}

TEST_F(PhasesTest, RefusalsAreToldInTheNextPrompt) {  // RSP-24, RSP-26
  script_->On("test -e tool");
  script_->On("ok").Says("fine\n");
  caller_.Next("phase0_plan", kPlan);
  caller_.Next("phase1_step0", R"({"command": "sudo make install"})");
  caller_.Next("phase1_step1", R"({"command": "ok", "done": true, "notes": "second"})");
  work_.last = Phase::kInstall;
  EXPECT_EQ(Run().exc_type, "");
  const Json progress = SectionOf(caller_.Requests("phase1_step")[1], "progress");
  const Json& step = Find(progress, "history")->get_array().at(0);
  EXPECT_EQ(FindInt(step, "exit_code"), 126);
  EXPECT_THAT(std::string(*FindString(step, "notes")), HasSubstr(".pydeps"));
  EXPECT_EQ(Find(step, "kind"), nullptr);
}

TEST_F(PhasesTest, DoneIsCheckedByTheConditionsOfThePlan) {  // RSP-26, RSP-T8
  script_->On("test -e tool").Fails(1, "").Times(1);
  script_->On("test -e tool");
  script_->On("make tool");
  caller_.Next("phase0_plan", kPlan);
  caller_.Next("phase1_step0", kDone);
  caller_.Next("phase1_step1", R"({"command": "make tool", "done": true})");
  work_.last = Phase::kInstall;
  EXPECT_EQ(Run().exc_type, "");
  const Json progress = SectionOf(caller_.Requests("phase1_step")[1], "progress");
  const Json& step = Find(progress, "history")->get_array().at(0);
  EXPECT_EQ(FindString(step, "command"), "test -e tool");
  EXPECT_THAT(std::string(*FindString(step, "notes")), HasSubstr("does not hold"));
}

TEST_F(PhasesTest, AConditionThatCannotBeCheckedIsOnlyAWarning) {  // RSP-26, RSP-T8
  script_->On("test -e tool").Fails(127, "not found");
  caller_.Next("phase0_plan", kPlan);
  caller_.Next("phase1_step0", kDone);
  work_.last = Phase::kInstall;
  EXPECT_EQ(Run().exc_type, "");
}

TEST_F(PhasesTest, PythonNeedsItsImports) {  // RSP-26
  config_.exec.phase1_required_imports = {"numpy", "os; evil"};
  caller_.Next("phase0_plan", R"({"dependencies": {"pip": ["numpy"]}})");
  caller_.Next("phase1_step0", kDone);
  script_->On("python3 -c 'import numpy'");
  work_.last = Phase::kInstall;
  EXPECT_EQ(Run().exc_type, "");
  EXPECT_THAT(script_->commands(), ElementsAre("python3 -c 'import numpy'"));
}

TEST_F(PhasesTest, PhaseOneGoesOnBehindItsLastStep) {  // RSP-26, RSP-48
  script_->On("ok").Writes("installed", "x");
  script_->On("test -e tool");
  caller_.Next("phase0_plan", kPlan);
  caller_.Next("phase1_step0", R"({"command": "ok"})");
  work_.last = Phase::kInstall;
  EXPECT_THAT(RunPhases(Parts(), work_, {}), FailsWith(ErrorCode::kFailed, "phase1_step1"));
  OpenLog();
  caller_.Next("phase1_step1", kDone);
  EXPECT_EQ(Run().exc_type, "");
  EXPECT_THAT(script_->commands(), ElementsAre("ok", "test -e tool"));
  EXPECT_TRUE(Exists(work_.workspace + "/installed"));
}

TEST_F(PhasesTest, ANewSandboxReplaysTheRecordedCommands) {  // RSP-48
  script_->On("ok").Times(1);
  script_->On("ok").Fails(3, "gone");
  script_->On("test -e tool");
  script_->On("again");
  caller_.Next("phase0_plan", kPlan);
  caller_.Next("phase1_step0", R"({"command": "ok"})");
  work_.last = Phase::kInstall;
  EXPECT_THAT(RunPhases(Parts(), work_, {}), FailsWith(ErrorCode::kFailed, "phase1_step1"));
  ASSERT_THAT(RemoveAll(work_.workspace), Succeeds());
  OpenLog();
  caller_.Next("phase1_step1", R"({"command": "again", "done": true})");
  EXPECT_EQ(Run().exc_type, "");
  EXPECT_THAT(script_->commands(), ElementsAre("ok", "ok", "again", "test -e tool"));
  const Json progress = SectionOf(caller_.Requests("phase1_step").back(), "progress");
  const JsonArray& history = Find(progress, "history")->get_array();
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(FindInt(history[1], "exit_code"), 3);
  EXPECT_THAT(std::string(*FindString(history[1], "notes")), HasSubstr("its exit code was 0"));
}

TEST_F(PhasesTest, EachWorkspaceHasDataOfItsOwn) {  // 5.3: copy_data
  ASSERT_THAT(MakeFolders(Path("given/sub")), Succeeds());
  ASSERT_THAT(WriteFileAtomic(Path("given/sub/x.csv"), "1,2\n"), Succeeds());
  script_->On("spoil").Writes("input/sub/x.csv", "spoilt");
  caller_.Next("phase0_plan", R"({"goal_summary": "x"})");
  caller_.Next("phase1_step0", R"({"command": "spoil"})");
  work_.last = Phase::kInstall;
  Services parts = Parts();
  parts.data = Path("given");
  EXPECT_THAT(RunPhases(parts, work_, {}), FailsWith(ErrorCode::kFailed, "phase1_step1"));
  const std::string copy = work_.workspace + "/input/sub/x.csv";
  EXPECT_EQ(ReadFile(copy).value_or(""), "spoilt");
  EXPECT_EQ(ReadFile(Path("given/sub/x.csv")).value_or(""), "1,2\n");
  // A resumed node keeps what it made from them; a new sandbox begins with fresh ones.
  for (const bool same_sandbox : {true, false}) {
    if (!same_sandbox) {
      EXPECT_THAT(RemoveAll(work_.workspace), Succeeds());
    }
    OpenLog();
    parts.log = log_.get();
    ASSERT_THAT(WriteFileAtomic(Path("given/sub/new.csv"), "3\n"), Succeeds());
    EXPECT_THAT(RunPhases(parts, work_, {}), FailsWith(ErrorCode::kFailed, "phase1_step1"));
    EXPECT_EQ(Exists(work_.workspace + "/input/sub/new.csv"), !same_sandbox);
  }
}

TEST_F(PhasesTest, ANewStartHasNothingOfTheOldSystem) {  // RSP-22
  const std::string system = SystemBeside(work_.workspace);
  ASSERT_THAT(MakeFolders(system + "/upper/usr"), Succeeds());
  caller_.Next("phase0_plan", R"({"goal_summary": "x"})");
  caller_.Next("phase1_step0", kDone);
  work_.last = Phase::kInstall;
  EXPECT_EQ(Run().exc_type, "");
  EXPECT_FALSE(Exists(system));
}

}  // namespace
}  // namespace dossier::research
