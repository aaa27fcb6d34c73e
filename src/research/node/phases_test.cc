#include "research/node/phases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <filesystem>

#include "base/files/file.h"
#include "memory/store/store.h"
#include "research/exec/exec_local.h"
#include "research/exec/exec_scripted.h"
#include "research/exec/phase_log.h"
#include "research/files/artifacts.h"
#include "research/files/phase_files.h"
#include "research/files/run_folder.h"
#include "research/node/phase0.h"
#include "research/node/phase1.h"
#include "research/node/phase_history.h"
#include "research/node/phase_outcome.h"
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

constexpr std::string_view kPlan = R"({"plan": {"goal_summary": "Sort fast",
  "implementation_strategy": ["write it", "time it"],
  "phase_guidance": {"phase1": {"done_conditions": ["test -e tool"]}, "phase3": {"notes": "-O3"}},
  "risks_and_mitigations": []}})";
constexpr std::string_view kDone = R"({"command": "", "done": true})";
constexpr std::string_view kProgram = R"({"phase_artifacts": {
  "coding": {"workspace": {"files": [{"path": "src/main.cpp", "content": "int main() {}\n"}]}},
  "compile": {"build_plan": {"language": "cpp", "compiler_selected": "g++", "cflags": ["-O3", "-g"]},
              "commands": ["{compiler_selected} {cflags} src/main.cpp -o {output} {unknown}"]},
  "run": {"commands": ["./bin/a.out"], "expected_outputs": ["working/sort_data.npy"]}}})";

// Answers by label, with the attempts that a real caller makes.
class FakeCaller final : public Caller {
 public:
  void Next(std::string_view label, std::string_view reply) {
    replies_[std::string(label)].emplace_back(reply);
  }

  Result<CallOutcome> Call(const CallRequest& request, const CancelToken&) override {
    const std::string label = request.label.empty() ? request.site : request.label;
    requests_.push_back(request);
    CallOutcome outcome;
    for (int attempt = 1; attempt <= 3; ++attempt) {
      auto& replies = replies_[label];
      if (replies.empty()) return MakeError(ErrorCode::kFailed, "no reply for {}", label);
      outcome.payload = replies.front();
      if (replies.size() > 1 || attempt < 3) replies.pop_front();
      const Status good = request.check ? request.check(outcome.payload) : Status{};
      if (good) return outcome;
      outcome.failure = CallFailure{"refused", good.error().message, "logs/reply.txt"};
      if (replies.empty()) break;
    }
    return outcome;
  }
  Result<JsonObject> Preview(const CallRequest&) override { return JsonObject{}; }

  std::vector<CallRequest> Requests(std::string_view site) const {
    std::vector<CallRequest> found;
    for (const CallRequest& request : requests_) {
      if (request.site == site) found.push_back(request);
    }
    return found;
  }

 private:
  std::map<std::string, std::deque<std::string>> replies_;
  std::vector<CallRequest> requests_;
};

Json SectionOf(const CallRequest& request, std::string_view name) {
  for (const OwnSection& section : request.sections) {
    if (section.name == name) return section.value;
  }
  return nullptr;
}

class PhasesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::Make();
    ASSERT_THAT(folder, Succeeds());
    folder_.emplace(std::move(*folder));
    auto store =
        memory::Store::Open({.path = Path("memory.sqlite"), .mode = memory::OpenMode::kCreate});
    ASSERT_THAT(store, Succeeds());
    memory_ = std::move(*store);
    OpenLog();
    config_.exec.phase1_max_steps = 4;
    work_ = {.node_id = std::string(32, '3'), .worker = "worker-0"};
    work_.coding.site = "draft";
    work_.workspace = Path("nodes/3/workspace");
    work_.history = *ParseJson(R"({"phase_summaries": {"phase4": "run complete"}})");
  }

  std::string Path(std::string_view name) const {
    return fmt::format("{}/{}", folder_->path(), name);
  }

  // As a new process does.
  void OpenLog() {
    log_.reset();
    auto log = Exists(Path(RunLog::kFile)) ? RunLog::Reopen(folder_->path(), SystemClock(), {})
                                           : RunLog::Start(folder_->path(), {}, SystemClock(), {});
    ASSERT_THAT(log, Succeeds());
    log_ = std::move(*log);
  }

  Services Parts() {
    return {.config = &config_,
            .log = log_.get(),
            .caller = &caller_,
            .memory = memory_.get(),
            .clock = SystemClock(),
            .backend = ScriptedBackends(script_, options_),
            .run_folder = folder_->path(),
            .run_name = "2026-01-28_17-46-11_sort_attempt_0",
            .compilers = {"g++"}};
  }

  PhasesOutcome Run() {
    auto outcome = RunPhases(Parts(), work_, {});
    EXPECT_THAT(outcome, Succeeds());
    return outcome.value_or(PhasesOutcome{});
  }

  // A node whose program is good.
  void ScriptAll() {
    caller_.Next("phase0_plan", kPlan);
    caller_.Next("phase1_step0", kDone);
    caller_.Next("draft", kProgram);
    script_->On("test -e tool");
    script_->On("g++ -O3 -g src/main.cpp -o bin/a.out {unknown}").Writes("bin/a.out", "ELF");
    script_->On("./bin/a.out").Says("42\n").Writes("working/sort_data.npy", "npy");
  }

  std::string LogOf(std::string_view name) const {
    return ReadFile(
               fmt::format("{}/{}/{}", folder_->path(), run_files::PhaseLogs(work_.node_id), name))
        .value_or("");
  }
  std::vector<std::string> Events() const {
    std::vector<std::string> kinds;
    const auto view = memory_->Snapshot("root");
    if (!view) return kinds;
    const auto records = view->Window(100);
    if (!records) return kinds;
    for (const memory::Record& record : *records) kinds.push_back(record.kind);
    return kinds;
  }

  std::optional<TempFolder> folder_;
  RunConfig config_;
  NodeWork work_;
  FakeCaller caller_;
  std::shared_ptr<CommandScript> script_ = std::make_shared<CommandScript>();
  ScriptedOptions options_;
  std::unique_ptr<memory::Store> memory_;
  std::unique_ptr<RunLog> log_;
};

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

// RSP-26, RSP-T8: how phase 1 ends.
struct InstallCase {
  std::string name;
  std::vector<std::string> replies;
  std::string end;  // part of exc_info; "": it is done
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
  // A resumed node keeps what it made of them; a new sandbox begins with fresh ones.
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
  script_->On("evil").Does([&](const Command&, const std::string& workspace, const CancelToken&) {
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
  EXPECT_THAT(PlanTexts(*plan, "compile_commands"), ElementsAre("make"));
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
  // A folder that leads out is neither written to nor emptied.
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
