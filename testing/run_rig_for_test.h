// A whole run without a model, a machine or a network: replies by label, commands by pattern. For
// tests of the driver.
//
//   RunRig rig;
//   const auto outcome = Run(rig.Order(RunOrder::Mode::kStart), CancelToken());
//   for (const Node& node : rig.Nodes()) …
//
// The scripted programs say in a comment how they do: "// value 20" is the metric that they write,
// "// broken" ends them with status 1. Drafts are broken, what debugs them works, and each later
// kind does better, so that every stage has something to do. Nothing depends on what this process
// did before, so a resumed run is answered as the first one was.

#ifndef DOSSIER_TESTING_RUN_RIG_FOR_TEST_H_
#define DOSSIER_TESTING_RUN_RIG_FOR_TEST_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "memory/store/store.h"
#include "research/files/run_folder.h"
#include "research/run.h"
#include "research/run/idea.h"
#include "research/tree/metric.h"
#include "research/tree/run_log.h"
#include "testing/exec_scripted_for_test.h"
#include "testing/scripted_model_for_test.h"

namespace dossier::research {

// What each branch of a run's memory shows, with the ids that prompts name records by.
inline std::map<std::string, std::string> MemoryShown(const std::string& folder) {
  std::map<std::string, std::string> shown;
  const auto store = memory::Store::Open({.path = folder + "/memory/memory.sqlite"});
  EXPECT_TRUE(store) << store.error().message;
  const std::vector<memory::Branch> branches = (*store)->Branches().value();
  for (const memory::Branch& branch : branches) {
    const memory::View view = (*store)->Snapshot(branch.name).value();
    std::string& text = shown[branch.name];
    for (const memory::CoreEntry& entry : view.AllCore())
      text += entry.key + ": " + entry.value + "\n";
    const std::vector<memory::Record> records = view.Records({}).value();
    for (const memory::Record& record : records) {
      text += fmt::format("#{} {}: {}\n", record.id, record.kind, record.text);
    }
  }
  return shown;
}

class RunRig {
 public:
  static constexpr std::string_view kName = "2026-01-28_17-46-11_sorting_attempt_0";

  explicit RunRig(std::string folder = {}) : temp_(*TempFolder::Make("research")) {
    folder_ = folder.empty() ? temp_.path() + "/" + std::string(kName) : std::move(folder);
    config.num_workers = 2;
    config.max_parallel = 1;
    config.num_drafts = 2;
    config.debug_prob = 1;
    config.num_seeds = 1;
    config.stages = {StageCap{6}, {2}, {2}, {2}};
    model_.When("", [this](const ScriptedCall& call) { return Reply(call); });
  }

  RunConfig config;
  std::vector<RunOrder::Skip> skip = {RunOrder::Skip::kPlots, RunOrder::Skip::kWriteup};
  std::function<void(const store::Event&)> watch;
  // Replies that differ from those below, by the beginning of a label.
  std::map<std::string, std::string> replies;
  std::string draft = "// broken";  // what a first program says of itself
  std::string asked_file;           // each question to the model is a line of it; "": none

  const std::string& folder() const { return folder_; }
  ScriptedModel& model() { return model_; }

  RunOrder Order(RunOrder::Mode mode) {
    static_cast<void>(MakeFolders(folder_));  // a run says what is wrong with its folder
    return {.folder = folder_,
            .idea = std::string(ExampleIdea()),
            .config = config,
            .mode = mode,
            .skip = skip,
            .open_model = model_.Open(),
            .backend = ScriptedBackends(Commands()),
            .clock = clock_,
            .watch = watch};
  }
  Result<RunOutcome> Start() { return Run(Order(RunOrder::Mode::kStart), CancelToken()); }
  Result<RunOutcome> Resume() { return Run(Order(RunOrder::Mode::kResume), CancelToken()); }

  std::vector<store::Event> Events() const {
    const auto log = ResearchLog::Reopen(folder_, clock_, {});
    return log ? (*log)->Events().value() : std::vector<store::Event>();
  }
  std::vector<std::string> EventsOf(std::string_view type, std::string_view field) const {
    std::vector<std::string> values;
    for (const store::Event& event : Events()) {
      if (event.type != type) continue;
      values.emplace_back(FindString(Json(event.data), field).value_or(""));
    }
    return values;
  }
  // As they were finished.
  std::vector<Node> Nodes() const {
    const auto log = ResearchLog::Reopen(folder_, clock_, {});
    std::vector<Node> nodes;
    const std::vector<store::Event> events = (*log)->Events().value();
    for (const store::Event& event : events) {
      if (event.type != "node.finished") continue;
      const Json data((*log)->Whole(event.data));
      const Result<Node> node = ReadNode(*Find(data, "node"));
      if (node) {
        nodes.push_back(*node);
      } else {
        ADD_FAILURE() << node.error().message;
      }
    }
    return nodes;
  }
  std::string File(std::string_view name) const {
    return ReadFile(fmt::format("{}/{}", folder_, name)).value_or("(no file)");
  }

 private:
  // Time stands still in what is written, so that two runs can be compared byte by byte.
  class StillClock final : public Clock {
   public:
    Steady Now() const override { return SystemClock()->Now(); }
    Wall WallNow() const override { return Wall(std::chrono::seconds(1'769'622'371)); }
  };

  static std::string Program(std::string_view comment) {
    const JsonObject file{{"path", "src/main.cpp"},
                          {"content", fmt::format("{}\nint main() {{}}\n", comment)}};
    const JsonObject artifacts{
        {"coding", JsonObject{{"workspace", JsonObject{{"files", JsonArray{file}}}}}},
        {"compile",
         JsonObject{{"build_plan", JsonObject{{"language", "cpp"}, {"compiler_selected", "g++"}}},
                    {"commands", JsonArray{"{compiler_selected} src/main.cpp -o {output}"}}}},
        {"run", JsonObject{{"commands", JsonArray{"./bin/a.out"}},
                           {"expected_outputs", JsonArray{"working/sorting_data.npy"}}}}};
    return ToJson(JsonObject{{"phase_artifacts", artifacts}});
  }

  std::string Reply(const ScriptedCall& call) {
    if (!asked_file.empty()) Tell(call.request.path);
    std::string_view found;
    for (const auto& [label, reply] : replies) {
      if (call.label.starts_with(label) && label.size() >= found.size()) found = label;
    }
    if (!found.empty()) return replies[std::string(found)];
    if (call.label == "draft") return Program(draft);
    if (call.label == "execution_review") {
      const bool failed = call.prompt.find("// broken") != std::string::npos;
      return ToJson(JsonObject{{"is_bug", failed}, {"summary", failed ? "it ends" : "it sorts"}});
    }
    const std::map<std::string, std::string> known = {
        {"define_metrics", "Seconds for each data set."},
        {"phase0_plan",
         R"({"plan": {"goal_summary": "sort", "implementation_strategy": ["write", "measure"]}})"},
        {"phase1_step", R"({"command": "", "done": true, "notes": "nothing to install"})"},
        {"debug", Program("// value 10")},
        {"improve", Program("// value 30")},
        {"tuning_node", Program("// value 20")},
        {"ablation_node", Program("// value 25")},
        {"tuning_idea", "HYPERPARAM NAME: block\nDESCRIPTION: blocks of 32 to 256 elements"},
        {"ablation_idea", "ABLATION NAME: cutoff\nABLATION DESCRIPTION: no insertion sort"},
        {"node_summary", R"({"findings": "it sorts", "significance": "a base line"})"},
        {"best_node", R"({"selected_id": "nobody", "reasoning": "guessed"})"},
        {"stage_completion",
         R"({"is_complete": true, "reasoning": "all done", "missing_criteria": []})"},
        {"seed_injection",
         R"({"files": [{"path": "src/main.cpp", "content": "// value 31\nint main() {}\n"}]})"},
        {"journal_summary", "Two programs sort."},
        {"stage_notes", "Go on with blocks."},
        {"report", "# Sorting\n\nBlocks help."}};
    for (const auto& [label, reply] : known) {
      if (call.label.starts_with(label)) return reply;
    }
    return "{}";
  }

  void Tell(const std::string& line) {
    const std::lock_guard lock(mutex_);
    std::FILE* file = std::fopen(asked_file.c_str(), "a");
    std::fputs((line + "\n").c_str(), file);
    std::fclose(file);
  }

  static Result<ExecResult> RunProgram(const ExecCommand&, const std::string& workspace,
                                       const CancelToken&) {
    const std::string code = ReadFile(workspace + "/src/main.cpp").value_or("");
    if (code.starts_with("// broken")) {
      return ExecResult{.status = 1, .err = "error: index out of range\n"};
    }
    const double value = std::atof(code.substr(code.find("value ") + 6).c_str());
    const MetricSeries series{.name = "speedup", .values = {{.dataset = "large", .value = value}}};
    DOSSIER_RETURN_IF_ERROR(MakeFolders(workspace + "/working"));
    DOSSIER_RETURN_IF_ERROR(
        WriteRunFile(workspace + "/working/metrics.json",
                     ToJson(JsonObject{{"metric_names", MetricJson({series})}})));
    DOSSIER_RETURN_IF_ERROR(WriteRunFile(workspace + "/working/sorting_data.npy", "data"));
    return ExecResult{.status = 0, .out = "sorted\n"};
  }

  static std::shared_ptr<CommandScript> Commands() {
    auto script = std::make_shared<CommandScript>();
    script->On("g++ src/main.cpp*").Says("").Writes("bin/a.out", "program");
    script->On("./bin/a.out").Does(RunProgram);
    return script;
  }

  TempFolder temp_;
  std::string folder_;
  std::shared_ptr<const Clock> clock_ = std::make_shared<StillClock>();
  ScriptedModel model_;
  std::mutex mutex_;
};

}  // namespace dossier::research

#endif  // DOSSIER_TESTING_RUN_RIG_FOR_TEST_H_
