#include "research/node/phases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/files/file.h"
#include "research/exec/exec_local.h"
#include "research/exec/phase_log.h"
#include "research/files/artifacts.h"
#include "research/files/phase_files.h"
#include "research/node/phase0.h"
#include "research/node/phase1.h"
#include "research/node/phase_history.h"
#include "testing/phases_rig_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST_F(PhasesTest, ANodeGoesThroughItsFivePhases) {  // RSP-25 to RSP-28
  ScriptAll();
  const PhasesOutcome outcome = Run();
  EXPECT_EQ(outcome.exc_type, "") << outcome.exc_info;
  EXPECT_EQ(outcome.plan, "Sort fast\n- write it\n- time it");
  EXPECT_THAT(outcome.code, HasSubstr("// File: src/main.cpp"));
  EXPECT_EQ(outcome.term_out, "$ ./bin/a.out\n42\n");
  EXPECT_THAT(outcome.outputs, ElementsAre("working/sort_data.npy"));
  EXPECT_THAT(
      script_->commands(),
      ElementsAre("test -e tool", "g++ -O3 -g src/main.cpp -o bin/a.out {unknown}", "./bin/a.out"));
  EXPECT_THAT(Events(), ::testing::UnorderedElementsAre("phase1_complete", "coding_complete",
                                                        "compile_complete", "run_complete"));
  EXPECT_THAT(LogOf("run.log"), HasSubstr("$ ./bin/a.out\n42\n[exit status 0"));
  EXPECT_THAT(LogOf("coding.log"), HasSubstr("src/main.cpp 14 bytes"));
  EXPECT_EQ(ReadFile(work_.workspace + "/src/main.cpp").value_or(""), "int main() {}\n");
  for (const std::string_view file :
       {"plans/phase0_llm_output.txt", "plans/phase0_plan.json", "plans/phase0_history_full.json",
        "phase1_steps.jsonl", "phase1_llm_outputs.jsonl"}) {
    EXPECT_TRUE(Exists(fmt::format("{}/workers/worker-0/{}", folder_->path(), file))) << file;
  }
  const Json* steps = Find(outcome.history, "phase1_steps_summary");
  ASSERT_NE(steps, nullptr);
  EXPECT_EQ(FindInt(*steps, "total_steps"), 0);
  EXPECT_NE(Find(outcome.history, "llm_output_summary"), nullptr);
}

TEST_F(PhasesTest, EachCallSeesThePlanAndTheResourcesOfItsPhase) {  // RSP-1, RSP-5, RSP-25
  ScriptAll();
  Services parts = Parts();
  for (int i = 0; i < kPhases; ++i) {
    parts.resources[static_cast<std::size_t>(i)] = Json(fmt::format("resources {}", i));
  }
  ASSERT_THAT(RunPhases(parts, work_, {}), Succeeds());
  const auto plan = caller_.Requests("phase0_plan"), step = caller_.Requests("phase1_step"),
             draft = caller_.Requests("draft");
  ASSERT_EQ(plan.size() + step.size() + draft.size(), 3u);
  EXPECT_TRUE(plan[0].prefix.plan.is_null());
  EXPECT_EQ(plan[0].alias, "phase0_prompt");
  EXPECT_EQ(step[0].alias, "phase1_step0_prompt");
  const Json history = SectionOf(plan[0], "history");
  EXPECT_EQ(FindString(history, "full_file"), "workers/worker-0/plans/phase0_history_full.json");
  EXPECT_EQ(plan[0].prefix.resources, Json("resources 0"));
  EXPECT_EQ(step[0].prefix.resources, Json("resources 1"));
  EXPECT_EQ(draft[0].prefix.resources, Json("resources 2"));
  EXPECT_EQ(draft[0].prefix.plan, step[0].prefix.plan);
  EXPECT_EQ(FindString(draft[0].prefix.plan, "goal_summary"), "Sort fast");
  EXPECT_EQ(Find(draft[0].prefix.plan, "risks_and_mitigations"), nullptr);
  EXPECT_EQ(Find(*Find(draft[0].prefix.plan, "phase_guidance"), "phase1"), nullptr);
  EXPECT_EQ(draft[0].scope.phase, "phase2");
  const Json progress = SectionOf(step[0], "progress");
  EXPECT_EQ(FindInt(progress, "step"), 1);
  EXPECT_EQ(FindInt(progress, "max_steps"), 4);
}

TEST_F(PhasesTest, AFinishedPhaseIsNotDoneAgain) {  // RSP-47, RSP-48
  ScriptAll();
  const PhasesOutcome first = Run();
  const std::size_t commands = script_->commands().size();
  OpenLog();
  const PhasesOutcome again = Run();
  EXPECT_EQ(ToJson(OutcomeJson(again)), ToJson(OutcomeJson(first)));
  EXPECT_EQ(script_->commands().size(), commands);
  EXPECT_THAT(caller_.Requests("draft"), SizeIs(1));
}

TEST_F(PhasesTest, AStoppedRunCompilesAgainInARebuiltWorkspace) {  // RSP-48
  ScriptAll();
  work_.last = Phase::kCompile;
  Run();
  ASSERT_THAT(RemoveAll(work_.workspace + "/src"), Succeeds());
  ASSERT_THAT(WriteFileAtomic(work_.workspace + "/working/sort_data.npy", "stale"), Succeeds());
  OpenLog();
  work_.last = Phase::kRun;
  const PhasesOutcome outcome = Run();
  EXPECT_EQ(outcome.exc_type, "") << outcome.exc_info;
  EXPECT_TRUE(Exists(work_.workspace + "/src/main.cpp"));
  EXPECT_EQ(ReadFile(work_.workspace + "/working/sort_data.npy").value_or(""), "npy");
  EXPECT_THAT(caller_.Requests("draft"), SizeIs(1));
}

TEST_F(PhasesTest, UntilEndsAfterItsPhase) {  // --until
  ScriptAll();
  work_.last = Phase::kPlan;
  const PhasesOutcome outcome = Run();
  EXPECT_FALSE(outcome.phase0_plan.is_null());
  EXPECT_TRUE(script_->commands().empty());
}

TEST_F(PhasesTest, APlanThatIsNoneFailsTheNode) {  // RSP-6, RSP-25
  for (int i = 0; i < 3; ++i) caller_.Next("phase0_plan", R"({"thoughts": "none"})");
  const PhasesOutcome outcome = Run();
  EXPECT_EQ(outcome.exc_type, "PhasePlanError");
  ASSERT_TRUE(outcome.failure);
  EXPECT_THAT(outcome.exc_info, HasSubstr("none of the keys"));
  EXPECT_TRUE(script_->commands().empty());
}

TEST_F(PhasesTest, AnEstimateOverEightyPercentIsAWarning) {  // RSP-25
  config_.exec.timeout = 100;
  caller_.Next("phase0_plan", R"({"time_budget_estimate": {"total_estimated_seconds": 81}})");
  work_.last = Phase::kPlan;
  Run();
  const auto events = log_->Events().value();
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](const store::Event& event) {
    return event.type == "warning" && ToJson(event.data).find("81 s") != std::string::npos;
  }));
}

TEST_F(PhasesTest, AFailedCompilerSkipsTheRun) {  // RSP-27, RSP-T9
  caller_.Next("phase0_plan", R"({"goal_summary": "x"})");
  caller_.Next("phase1_step0", kDone);
  caller_.Next("draft", kProgram);
  script_->On("g++*").Fails(1, "main.cpp:1: error: x");
  const PhasesOutcome outcome = Run();
  EXPECT_EQ(outcome.exc_type, "CompilationError");
  EXPECT_THAT(outcome.exc_info, HasSubstr("ended with status 1"));
  EXPECT_THAT(outcome.exc_info, HasSubstr("main.cpp:1: error: x"));
  EXPECT_THAT(script_->commands(), Not(Contains("./bin/a.out")));
  EXPECT_EQ(FindString(outcome.history, "compile_errors"), "main.cpp:1: error: x\n");
  EXPECT_THAT(Events(), Contains("compile_failed"));
  OpenLog();
  EXPECT_EQ(Run().exc_type, "CompilationError");
}

TEST_F(PhasesTest, ErrorsAreWhatAFailedCommandSaidAndNothingElse) {  // FLT-70
  script_->On("./bin/a.out")
      .Says("absolute error, small; 0 tests failed; file not found in cache\n")
      .Writes("working/sort_data.npy", "npy");
  ScriptAll();
  const PhasesOutcome good = Run();
  EXPECT_EQ(good.exc_type, "");
  EXPECT_EQ(FindString(good.history, "run_errors"), "");
  EXPECT_EQ(FindString(good.history, "compile_errors"), "");
  EXPECT_EQ(ErrorsOf(good.history), "");
}

TEST_F(PhasesTest, AFailedProgramsErrorsNeedNoCertainWord) {  // FLT-70
  script_->On("./bin/a.out").Fails(3, "Zugriff verweigert");
  ScriptAll();
  const PhasesOutcome outcome = Run();
  EXPECT_EQ(outcome.exc_type, "RuntimeError");
  EXPECT_EQ(ErrorsOf(outcome.history), "Zugriff verweigert\n");
}

TEST_F(PhasesTest, PythonSkipsTheCompiler) {  // RSP-27, RSP-T9
  caller_.Next("phase0_plan", R"({"goal_summary": "x"})");
  caller_.Next("phase1_step0", kDone);
  caller_.Next("draft", R"({"coding": {"workspace": {"files": {"a.py": "x = 1"}}},
      "compile": {"build_plan": {"language": "python"}, "commands": ["never"]},
      "run": {"commands": ["python3 a.py", "python3 b.py"]}})");
  script_->On("python3 a.py").Fails(1, "Traceback");
  const PhasesOutcome outcome = Run();
  EXPECT_EQ(outcome.exc_type, "RuntimeError");
  EXPECT_THAT(script_->commands(), ElementsAre("python3 a.py"));  // a list stops at a failure
}

TEST_F(PhasesTest, AMissingOutputFailsTheRun) {  // RSP-27, RSP-T9, section 6
  caller_.Next("phase0_plan", R"({"goal_summary": "x"})");
  caller_.Next("phase1_step0", kDone);
  caller_.Next("draft", kProgram);
  script_->On("g++*");
  script_->On("./bin/a.out").Says("last line\n");
  const PhasesOutcome outcome = Run();
  EXPECT_EQ(outcome.exc_type, "RuntimeError");
  EXPECT_THAT(outcome.exc_info, StartsWith("working/sort_data.npy was not written\n"));
  EXPECT_THAT(outcome.exc_info, HasSubstr("last line"));
  EXPECT_THAT(outcome.outputs, SizeIs(0));
}

TEST_F(PhasesTest, ABadProgramWritesNothing) {  // RSP-11, RSP-T5, RSP-T9, section 6
  caller_.Next("phase0_plan", R"({"goal_summary": "x"})");
  caller_.Next("phase1_step0", kDone);
  for (int i = 0; i < 3; ++i) {
    caller_.Next("draft", R"({"coding": {"workspace": {"files": [
        {"path": "a.py", "content": "x"}, {"path": "../../etc/x", "content": "x"}]}},
        "compile": {}, "run": {"commands": ["python3 a.py"]}})");
  }
  const PhasesOutcome outcome = Run();
  EXPECT_EQ(outcome.exc_type, "PhasePlanError");
  EXPECT_THAT(outcome.exc_info, HasSubstr("leaves the workspace"));
  EXPECT_FALSE(Exists(work_.workspace + "/a.py"));
  EXPECT_THAT(Events(), Contains("coding_failed"));
}

TEST_F(PhasesTest, ATimeoutAndARefusalAreToldApart) {  // RSP-27, RSP-T9
  caller_.Next("phase0_plan", R"({"goal_summary": "x"})");
  caller_.Next("phase1_step0", kDone);
  caller_.Next("draft", kProgram);
  script_->On("g++*");
  script_->On("./bin/a.out").Gives({.status = 143, .signal = 15, .timed_out = true, .seconds = 2});
  const PhasesOutcome outcome = Run();
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.exc_type, "RuntimeError");
  EXPECT_THAT(outcome.exc_info, HasSubstr("timed out after 2 s"));
}

TEST_F(PhasesTest, SingleModeTakesPlanAndCode) {  // RSP-12
  config_.exec.phase_mode = PhaseMode::kSingle;
  config_.exec.language = "cpp";
  caller_.Next("phase0_plan", R"({"goal_summary": "x"})");
  caller_.Next("phase1_step0", kDone);
  caller_.Next("draft", "Sort it.\n```cpp\nint main() {}\n```\n");
  script_->On("g++ -O2 main.cpp -o bin/a.out");
  script_->On("./bin/a.out").Writes("working/sort_data.npy", "npy");
  const PhasesOutcome outcome = Run();
  EXPECT_EQ(outcome.exc_type, "") << outcome.exc_info;
  EXPECT_EQ(outcome.plan, "Sort it.");
}

TEST_F(PhasesTest, ARerunHasTheSeedAndAWorkspaceOfItsOwn) {  // RSP-36
  ScriptAll();
  const PhasesOutcome first = Run();
  ASSERT_THAT(WriteFileAtomic(work_.workspace + "/installed", "tool"), Succeeds());
  NodeWork again = work_;
  again.node_id = std::string(32, '4');
  again.base_workspace = work_.workspace;
  again.workspace = Path("nodes/4/workspace");
  again.environment = {"DOSSIER_SEED=1"};
  const auto outcome = RerunArtifacts(Parts(), again, first.artifacts, {});
  ASSERT_THAT(outcome, Succeeds());
  EXPECT_EQ(outcome->exc_type, "") << outcome->exc_info;
  EXPECT_EQ(outcome->code, first.code);
  EXPECT_EQ(ReadFile(again.workspace + "/installed").value_or(""), "tool");
  EXPECT_THAT(caller_.Requests("draft"), SizeIs(1));
  const std::size_t commands = script_->commands().size();
  OpenLog();
  ASSERT_THAT(RerunArtifacts(Parts(), again, first.artifacts, {}), Succeeds());
  EXPECT_EQ(script_->commands().size(), commands);
}

TEST_F(PhasesTest, APlantedSecretIsNowhereUnderTheRunFolder) {  // RSP-15, RSP-T6
  if (auto backend = MakeLocalBackend({}); !(*backend)->Start({.workspace = Path("try")})) {
    GTEST_SKIP() << "no sandbox here";
  }
  setenv("MY_API_KEY", "planted-4711", 1);
  caller_.Next("phase0_plan", R"({"goal_summary": "x"})");
  caller_.Next("phase1_step0", R"({"command": "env", "done": true})");
  caller_.Next("draft", R"({"coding": {"workspace": {"files": {"a.sh": "env"}}},
      "compile": {"build_plan": {"language": "python"}},
      "run": {"commands": ["env; cat /proc/*/environ; printenv > working/sort_data.npy"]}})");
  Services parts = Parts();
  parts.environment = {"PATH=/usr/bin:/bin"};
  parts.backend = [](std::string_view) { return MakeLocalBackend({}); };
  EXPECT_THAT(RunPhases(parts, work_, {}), Succeeds());
  unsetenv("MY_API_KEY");
  log_.reset();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_->path())) {
    if (!entry.is_regular_file()) continue;
    EXPECT_THAT(ReadFile(entry.path().string()).value_or(""), Not(HasSubstr("planted-4711")))
        << entry.path();
  }
}

TEST_F(PhasesTest, ALinkInPlaceOfTheMarkLeadsNowhere) {  // RSP-23
  script_->On("evil").Does(
      [&](const ExecCommand&, const std::string& workspace, const CancelToken&) {
        (void)RemoveAll(workspace + "/.dossier");
        std::filesystem::create_directory_symlink(folder_->path(), workspace + "/.dossier");
        return Result<ExecResult>(ExecResult{.status = 0});
      });
  caller_.Next("phase0_plan", R"({"goal_summary": "x"})");
  caller_.Next("phase1_step0", R"({"command": "evil", "done": true})");
  work_.last = Phase::kInstall;
  EXPECT_EQ(Run().exc_type, "");
  EXPECT_FALSE(Exists(Path("phase1_step")));
  EXPECT_EQ(ReadFile(fmt::format("{}/{}", work_.workspace, kInstallMark)).value_or(""), "1");
}

TEST_F(PhasesTest, AProgramRunsInTheLocalSandbox) {  // RSP-T9, RSP-T10, RSP-T26
  auto backend = MakeLocalBackend({});
  ASSERT_THAT(backend, Succeeds());
  if (const Status started = (*backend)->Start({.workspace = Path("try")}); !started) {
    GTEST_SKIP() << started.error().message;
  }
  caller_.Next("phase0_plan", R"({"goal_summary": "x"})");
  caller_.Next("phase1_step0", R"({"command": "mkdir tool", "done": true})");
  caller_.Next("draft", R"({"coding": {"workspace": {"files": {"run.sh":
      "test -d tool && echo $DOSSIER_SEED > working/sort_data.npy; echo x > /outside"}}},
      "compile": {"build_plan": {"language": "python"}},
      "run": {"commands": ["sh run.sh || true"]}})");
  work_.environment = {"DOSSIER_SEED=7"};
  Services parts = Parts();
  parts.backend = [](std::string_view) { return MakeLocalBackend({}); };
  const auto outcome = RunPhases(parts, work_, {});
  ASSERT_THAT(outcome, Succeeds());
  EXPECT_EQ(outcome->exc_type, "") << outcome->exc_info;
  EXPECT_EQ(ReadFile(work_.workspace + "/working/sort_data.npy").value_or(""), "7\n");
  EXPECT_THAT(outcome->term_out, HasSubstr("cannot create /outside"));
}

TEST_F(PhasesTest, WhatPhase1InstallsIntoTheSystemIsThereForTheProgramAndItsReruns) {  // RSP-22
  LocalOptions options;
  options.system = Path("workers/system");
  auto make = MakeLocalBackends(options);
  ASSERT_THAT(make, Succeeds());
  auto backend = (*make)("worker-0");
  const Status started = (*backend)->Start(
      {.workspace = Path("try"), .system = Path("try-system"), .use = SandboxSpec::Use::kInstall});
  if (!started) GTEST_SKIP() << started.error().message;
  if (const std::string reason = (*backend)->Facts().no_overlay; !reason.empty()) {
    GTEST_SKIP() << "no overlay here: " << reason;
  }
  caller_.Next("phase0_plan", R"({"goal_summary": "x"})");
  caller_.Next("phase1_step0",
               R"({"command": "echo 'echo 7' > /usr/local/bin/tool; chmod 755 /usr/local/bin/tool",
                   "done": true})");
  caller_.Next("draft", R"({"coding": {"workspace": {"files": {"run.sh":
      "tool > working/sort_data.npy"}}},
      "compile": {"build_plan": {"language": "python"}}, "run": {"commands": ["sh run.sh"]}})");
  Services parts = Parts();
  parts.backend = *make;
  const auto outcome = RunPhases(parts, work_, {});
  ASSERT_THAT(outcome, Succeeds());
  EXPECT_EQ(outcome->exc_type, "") << outcome->exc_info;
  EXPECT_EQ(ReadFile(work_.workspace + "/working/sort_data.npy").value_or(""), "7\n");
  const Json constraints = SectionOf(caller_.Requests("phase1_step").front(), "constraints");
  EXPECT_THAT(std::string(constraints.get_string()), HasSubstr("Commands are root"));

  NodeWork again = work_;
  again.node_id = std::string(32, '4');
  again.base_workspace = work_.workspace;
  again.workspace = Path("nodes/4/workspace");
  const auto rerun = RerunArtifacts(parts, again, outcome->artifacts, {});
  ASSERT_THAT(rerun, Succeeds());
  EXPECT_EQ(rerun->exc_type, "") << rerun->exc_info;
}

TEST(ParsePlanTest, MissingKeysAreEmptyAndWrongOnesNamed) {  // RSP-25
  const auto plan = ParsePlan(R"({"compile_commands": "make", "dependencies": {"pip": null}})");
  ASSERT_THAT(plan, Succeeds());
  EXPECT_THAT(StringsOf(Find(*plan, "compile_commands")), ElementsAre("make"));
  EXPECT_TRUE(PlanTexts(*plan, "dependencies", "", "pip").empty());
  EXPECT_EQ(EstimatedSeconds(*plan), 0);
  EXPECT_TRUE(PlanTexts(*plan, "phase_guidance", "phase1", "done_conditions").empty());
  EXPECT_THAT(ParsePlan("[]"), FailsWith(ErrorCode::kInvalidArgument, "no object"));
  EXPECT_THAT(ParsePlan("{}"), FailsWith(ErrorCode::kInvalidArgument, "none of the keys"));
  EXPECT_THAT(ParsePlan(R"({"dependencies": [1]})"),
              FailsWith(ErrorCode::kInvalidArgument, "dependencies must be an object"));
}

TEST(FillCommandTest, KnownFieldsAreReplacedOnce) {  // RSP-27, RSP-T9
  BuildPlan build;
  build.fields = {
      {"compiler_selected", "g++"}, {"cflags", JsonArray{"-O3", "{output}"}}, {"output", "bin/a"}};
  EXPECT_EQ(FillCommand("{compiler_selected} {cflags} -o {output} {x} ${HOME} {", build),
            "g++ -O3 {output} -o bin/a {x} ${HOME} {");
  EXPECT_EQ(FillCommand("awk '{print $1}' {cflags", build), "awk '{print $1}' {cflags");
}

TEST(PhaseFilesTest, ALinkOutOfTheWorkspaceIsNoOutput) {  // RSP-27
  auto folder = TempFolder::Make();
  ASSERT_THAT(folder, Succeeds());
  const std::string workspace = folder->path() + "/w";
  ASSERT_THAT(MakeFolders(workspace), Succeeds());
  ASSERT_THAT(WriteFileAtomic(folder->path() + "/secret", "x"), Succeeds());
  ASSERT_THAT(WriteFileAtomic(workspace + "/empty", ""), Succeeds());
  ASSERT_THAT(WriteFileAtomic(workspace + "/full", "x"), Succeeds());
  std::filesystem::create_symlink("../secret", workspace + "/link");
  EXPECT_FALSE(MissingOutput(workspace, "full"));
  EXPECT_EQ(MissingOutput(workspace, "empty"), "empty is empty");
  EXPECT_EQ(MissingOutput(workspace, "absent"), "absent was not written");
  EXPECT_EQ(MissingOutput(workspace, "link"), "link is no file of the workspace");
  // A folder that leads out is neither written nor emptied.
  std::filesystem::create_directory_symlink("..", workspace + "/working");
  Artifacts artifacts;
  artifacts.expected_outputs = {"working/secret"};
  ASSERT_THAT(PrepareWorkspace(artifacts, workspace), Succeeds());
  EXPECT_TRUE(Exists(folder->path() + "/secret"));
}

TEST(PhaseLogTest, DownloadsAreFoundInCommands) {  // RSP-26
  EXPECT_THAT(Downloads("wget -q -O x.tgz https://h/x.tgz && git clone --depth 1 https://h/r r"),
              ElementsAre(Download{"https://h/x.tgz", "x.tgz"}, Download{"https://h/r", "r"}));
  EXPECT_THAT(Downloads("curl -L http://h/y"), ElementsAre(Download{"http://h/y", ""}));
  EXPECT_TRUE(Downloads("make; echo https://h").empty());
}

}  // namespace
}  // namespace dossier::research
