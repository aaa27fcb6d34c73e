// A node's phases without a model and a machine: replies by label, commands by pattern. For tests
// of the phases.
//
//   TEST_F(PhasesTest, ...) {
//     ScriptAll();
//     EXPECT_EQ(Run().exc_type, "");
//   }

#ifndef DOSSIER_TESTING_PHASES_RIG_FOR_TEST_H_
#define DOSSIER_TESTING_PHASES_RIG_FOR_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "memory/store/store.h"
#include "research/files/run_folder.h"
#include "research/node/phases.h"
#include "testing/exec_scripted_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {

inline constexpr std::string_view kPlan = R"({"plan": {"goal_summary": "Sort fast",
  "implementation_strategy": ["write it", "time it"],
  "phase_guidance": {"phase1": {"done_conditions": ["test -e tool"]}, "phase3": {"notes": "-O3"}},
  "risks_and_mitigations": []}})";
inline constexpr std::string_view kDone = R"({"command": "", "done": true})";
inline constexpr std::string_view kProgram = R"({"phase_artifacts": {
  "coding": {"workspace": {"files": [{"path": "src/main.cpp", "content": "int main() {}\n"}]}},
  "compile": {"build_plan": {"language": "cpp", "compiler_selected": "g++", "cflags": ["-O3", "-g"]},
              "commands": ["{compiler_selected} {cflags} src/main.cpp -o {output} {unknown}"]},
  "run": {"commands": ["./bin/a.out"], "expected_outputs": ["working/sort_data.npy"]}}})";

// Answers by label, with the attempts that a real caller makes.
class PhaseCaller final : public RoleCaller {
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

inline Json SectionOf(const CallRequest& request, std::string_view name) {
  for (const OwnSection& section : request.sections) {
    if (section.name == name) return section.value;
  }
  return nullptr;
}

class PhasesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::Make();
    ASSERT_THAT(folder, dossier::testing::Succeeds());
    folder_.emplace(std::move(*folder));
    auto store =
        memory::Store::Open({.path = Path("memory.sqlite"), .mode = memory::OpenMode::kCreate});
    ASSERT_THAT(store, dossier::testing::Succeeds());
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
    auto log = Exists(Path(ResearchLog::kFile))
                   ? ResearchLog::Reopen(folder_->path(), SystemClock(), {})
                   : ResearchLog::Start(folder_->path(), {}, SystemClock(), {});
    ASSERT_THAT(log, dossier::testing::Succeeds());
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
    EXPECT_THAT(outcome, dossier::testing::Succeeds());
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
  PhaseCaller caller_;
  std::shared_ptr<CommandScript> script_ = std::make_shared<CommandScript>();
  ScriptedOptions options_;
  std::unique_ptr<memory::Store> memory_;
  std::unique_ptr<ResearchLog> log_;
};

}  // namespace dossier::research

#endif  // DOSSIER_TESTING_PHASES_RIG_FOR_TEST_H_
