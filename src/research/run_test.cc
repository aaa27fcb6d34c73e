#include "research/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "research/files/phase_files.h"
#include "research/run/run_history.h"
#include "research/run/run_setup.h"
#include "testing/research_rig_for_test.h"
#include "testing/result_matchers.h"
#include "testing/run_rig_for_test.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using Skip = RunOrder::Skip;

// Returns the kinds of the nodes in order: "draft draft debug …".
std::string Kinds(const std::vector<Node>& nodes) {
  std::string kinds;
  for (const Node& node : nodes) {
    kinds += (kinds.empty() ? "" : " ") + std::string(NodeKindName(node.kind));
  }
  return kinds;
}

TEST(RunTest, FourStagesFromAnIdeaToAReport) {  // RSP-31, RSP-32, RSP-35, RSP-T15
  RunRig rig;
  const auto outcome = rig.Start();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, RunEnd::kDone) << outcome->reason;
  const std::vector<Node> nodes = rig.Nodes();
  // Each stage ends with one rerun and the node that represents all reruns.
  EXPECT_EQ(Kinds(nodes),
            "draft draft debug debug seed seed "
            "copy tuning tuning seed seed "
            "copy improve improve seed seed "
            "copy ablation ablation seed seed");
  EXPECT_THAT(
      rig.EventsOf("stage.ended", "stage"),
      ElementsAre("1_initial_implementation_1_preliminary", "2_baseline_tuning_1_first_attempt",
                  "3_creative_research_1_first_attempt", "4_ablation_studies_1_first_attempt"));
  EXPECT_EQ(rig.File("report.md"), "# Sorting\n\nBlocks help.\n");
  for (const Node& node : nodes) {
    if (node.id != outcome->best_node) continue;
    EXPECT_EQ(MetricText(*node.metric), "speedup↑[large:30]");
  }
}

TEST(RunTest, ABrokenProgramKeepsItsErrorAndItsChildIsShownIt) {  // RSP-27, RSP-T15
  RunRig rig;
  ASSERT_TRUE(rig.Start());
  const std::vector<Node> nodes = rig.Nodes();
  EXPECT_EQ(nodes[0].exc_type, "RuntimeError");
  EXPECT_TRUE(nodes[0].is_buggy);
  EXPECT_EQ(nodes[2].parent_id, nodes[0].id);
  const auto calls = rig.model().Calls("debug");
  ASSERT_FALSE(calls.empty());
  EXPECT_THAT(calls.front().prompt, HasSubstr("index out of range"));
}

TEST(RunTest, ALaterAttemptShowsItsFirstPlanWhatTheOneBeforeDid) {  // RSP-25
  const TempFolder out = *TempFolder::Make("attempts");
  RunRig first(out.path() + "/2026-01-28_17-46-11_sorting_attempt_0");
  RunOrder order = first.Order(RunOrder::Mode::kStart);
  order.stages = {1};
  ASSERT_TRUE(research::Run(order, CancelToken()));
  EXPECT_THAT(first.model().Calls("phase0_plan").front().prompt,
              Not(HasSubstr("compile_log_summary")));
  RunRig second(out.path() + "/2026-01-28_18-00-00_sorting_attempt_2");
  order = second.Order(RunOrder::Mode::kStart);
  order.until = Step::kPhase0;
  ASSERT_TRUE(research::Run(order, CancelToken()));
  const std::string shown = second.model().Calls("phase0_plan").front().prompt;
  EXPECT_THAT(shown, HasSubstr("compile_log_summary"));
  EXPECT_THAT(shown, HasSubstr("workers/worker-0/plans/phase0_history_full.json"));
  EXPECT_THAT(second.EventsOf("run.started", "previous_attempt"),
              ElementsAre("2026-01-28_17-46-11_sorting_attempt_0"));
  // A resume shows the same, whatever became of the attempt before.
  ASSERT_TRUE(RemoveAll(first.folder()));
  const auto resumed = SetUpRun(second.Order(RunOrder::Mode::kResume), CancelToken());
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_TRUE(FindString((*resumed)->driver.previous_history, "compile_log_summary").has_value());
}

TEST(RunTest, AMetricThatIsNoNumberIsAFaultOfItsProgram) {  // FLT-69
  RunRig rig;
  rig.draft = "// value nan";
  ASSERT_TRUE(rig.Start());
  const std::vector<Node> nodes = rig.Nodes();
  EXPECT_TRUE(nodes[0].is_buggy);
  EXPECT_EQ(nodes[0].exc_type, "RuntimeError");
  EXPECT_THAT(nodes[0].exc_info, HasSubstr("speedup of large is not a finite number"));
  EXPECT_EQ(nodes[2].parent_id, nodes[0].id);
  EXPECT_THAT(rig.model().Calls("debug").front().prompt, HasSubstr("is not a finite number"));
}

TEST(RunTest, SmallMetricsReachEveryPrompt) {  // FLT-60
  RunRig rig;
  rig.draft = "// value 1e-06";
  rig.config.num_drafts = 1;
  ASSERT_TRUE(rig.Start());
  for (const std::string_view label : {"node_summary", "improve", "stage_notes", "report"}) {
    bool seen = false;
    for (const ScriptedCall& call : rig.model().Calls()) {
      if (call.label.starts_with(label)) seen |= call.prompt.find("1e-06") != std::string::npos;
    }
    EXPECT_TRUE(seen) << label;
  }
}

TEST(RunTest, WhatEveryCallTookIsInItsNode) {  // FLT-67
  RunRig rig;
  ASSERT_TRUE(rig.Start());
  std::map<std::string, std::int64_t> calls;  // by node
  std::int64_t all = 0;
  for (const ScriptedCall& call : rig.model().Calls()) {
    ++calls[call.node];
    ++all;
  }
  const auto history = ReadRunHistory(rig.folder());
  ASSERT_TRUE(history);
  std::int64_t told = history->usage.calls;
  for (const StageResults& stage : history->results.stages) {
    for (const Node& node : stage.tree.nodes) {
      EXPECT_EQ(node.usage.calls, calls[node.id]) << NodeKindName(node.kind);
      EXPECT_EQ(node.usage.total.cost_nano_usd, 1000 * calls[node.id]);
      const Json file = *ParseJson(rig.File("nodes/" + node.id + "/node.json"));
      EXPECT_EQ(FindInt(*Find(file, "usage"), "calls"), calls[node.id])
          << NodeKindName(node.kind) << " " << stage.name;
      told += node.usage.calls;
    }
  }
  EXPECT_EQ(told, all);
  EXPECT_EQ(history->spend.usage.calls, all);
}

TEST(RunTest, APaperThatNobodyWroteFailsTheRunAndCanBeAskedForAgain) {  // FLT-62
  RunRig rig;
  rig.skip = {RunOrder::Skip::kPlots, RunOrder::Skip::kCitations};
  rig.config.writeup_reflections = 0;
  rig.replies["writeup"] =
      fmt::format("```latex\n{}\n```", *BuiltInAsset("data/research/paper.tex"));
  const auto outcome = rig.Start();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, RunEnd::kFailed);
  EXPECT_THAT(outcome->reason, HasSubstr("paper/paper.tex is not written"));
  EXPECT_NE(outcome->best_node, "");
  EXPECT_EQ(rig.File("report.md"), "# Sorting\n\nBlocks help.\n");
  const auto asked = [&rig](std::string_view label) {
    std::size_t count = 0;
    for (const ScriptedCall& call : rig.model().Calls()) count += call.label.starts_with(label);
    return count;
  };
  EXPECT_EQ(asked("writeup"), 3U);
  EXPECT_EQ(asked("review"), 0U);

  rig.replies["writeup"] = fmt::format("```latex\n{}\n```", WrittenPaper());
  RunOrder again = rig.Order(RunOrder::Mode::kResume);
  again.retry = RunOrder::Retry::kFailed;
  const auto retried = research::Run(again, CancelToken());
  ASSERT_TRUE(retried) << retried.error().message;
  EXPECT_EQ(retried->end, RunEnd::kDone) << retried->reason;
  EXPECT_EQ(asked("writeup"), 4U);
  EXPECT_EQ(asked("review"), 3U);  // the rig's answer is not a review
}

TEST(RunTest, EachStepSeesWhatItNeeds) {  // FLT-61
  RunRig rig;
  rig.skip = {RunOrder::Skip::kPlots, RunOrder::Skip::kCitations, RunOrder::Skip::kReview};
  rig.config.writeup_reflections = 0;
  rig.replies["writeup"] = fmt::format("```latex\n{}\n```", WrittenPaper());
  ASSERT_TRUE(rig.Start());
  const struct {
    std::string_view label;
    std::vector<std::string_view> parts;
  } kNeeds[] = {{"improve", {"sorted", "speedup↑[large:", "Seconds for each data set."}},
                {"tuning_idea", {"sorted", "speedup↑[large:"}},
                {"tuning_node", {"sorted", "speedup↑[large:", "Seconds for each data set."}},
                {"ablation_node", {"sorted", "speedup↑[large:", "Seconds for each data set."}},
                {"debug", {"index out of range", "Seconds for each data set."}},
                {"report", {"the author of the report"}},
                {"writeup", {"the author of the scientific paper"}},
                {"execution_review", {"the examiner of this run"}}};
  const Idea idea = *ReadIdea(ExampleIdea(), "idea.md");
  for (const auto& need : kNeeds) {
    bool asked = false;
    for (const ScriptedCall& call : rig.model().Calls()) {
      if (!call.label.starts_with(need.label) || call.attempt == 0) continue;
      asked = true;
      for (const std::string_view part : need.parts) {
        EXPECT_THAT(call.prompt, HasSubstr(std::string(part))) << need.label;
      }
      for (const Idea::Part& part : idea.parts) {
        EXPECT_THAT(call.prompt, HasSubstr(idea.Text(part.name))) << need.label;
      }
    }
    EXPECT_TRUE(asked) << need.label;
  }
}

TEST(RunTest, BranchesOfMemoryAreNamedAfterWhatTheyAreOf) {  // FLT-72
  RunRig rig;
  ASSERT_TRUE(rig.Start());
  std::vector<std::string> names;
  for (const auto& [name, shown] : MemoryShown(rig.folder())) names.push_back(name);
  EXPECT_THAT(names, IsSupersetOf({"1.1-draft-r0s0", "1.1-draft-r0s1", "1.1-debug-r1s0", "2.1-copy",
                                   "2.1-tuning-r0s0", "4.1-ablation-r0s1"}));
  for (const Node& node : rig.Nodes()) EXPECT_THAT(names, Contains(node.branch_id));
}

TEST(RunTest, KeysOfMemoryAct) {  // MEM-49
  const auto made = [](RunRig& rig) {
    rig.replies["phase0_plan"] =
        "<memory_update>{\"core_set\": {\"fact\": \"fourteen chars\"}}</memory_update>\n"
        "{\"plan\": {\"goal_summary\": \"sort\"}}";
    rig.config.stages[0].max_iters = 2;
    rig.config.memory["core_max_chars"] = 20;
    const auto outcome = rig.Start();
    EXPECT_TRUE(outcome) << outcome.error().message;
    std::string all;
    for (const auto& [name, shown] : MemoryShown(rig.folder())) all += shown;
    return all;
  };
  RunRig rig;
  rig.config.memory = {{"memory_log_max_chars", 3}};
  EXPECT_THAT(made(rig), HasSubstr("Core evicted"));
  const std::string log = rig.File("memory/memory_calls.jsonl");
  EXPECT_THAT(log, HasSubstr("core_set"));
  EXPECT_THAT(log, Not(HasSubstr("fourteen chars")));

  RunRig quiet;
  quiet.config.memory = {{"auto_consolidate", false}, {"memory_log_enabled", false}};
  EXPECT_THAT(made(quiet), Not(HasSubstr("Core evicted")));
  EXPECT_EQ(quiet.File("memory/memory_calls.jsonl"), "(no file)");

  RunRig refused;
  refused.config.memory = {{"use_llm_compression", true}};
  EXPECT_THAT(refused.Start(), FailsWith(ErrorCode::kConfig, "use_llm_compression"));
}

TEST(RunTest, IdsOfNodesComeFromIdeaAndSeedAndNotFromTheRun) {  // FLT-66, RSP-34
  const auto ids = [](std::int64_t seed) {
    RunRig rig;
    rig.config.seed = seed;
    rig.config.stages[0].max_iters = 2;
    static_cast<void>(rig.Start());
    return rig.EventsOf("node.created", "node");
  };
  const auto first = ids(1);
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(ids(1), first);
  EXPECT_NE(ids(2), first);
}

TEST(RunTest, TwoRunsOfOneIdeaInOneStoreHaveBranchesOfTheirOwn) {  // FLT-66
  const auto folder = TempFolder::Make();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/shared.sqlite";
  std::set<std::string> branches;
  for (int run = 0; run < 2; ++run) {
    RunRig rig;
    rig.config.stages[0].max_iters = 2;
    RunOrder order = rig.Order(RunOrder::Mode::kStart);
    order.memory_store = path;
    ASSERT_TRUE(research::Run(order, CancelToken()));
    for (const Node& node : rig.Nodes()) EXPECT_TRUE(branches.insert(node.branch_id).second);
  }
}

TEST(RunTest, DataAreCopiedIntoWorkspacesOrBound) {  // 5.3: copy_data
  RunRig rig;
  const auto given = TempFolder::Make();
  ASSERT_TRUE(given);
  const std::string& data = given->path();
  ASSERT_TRUE(WriteFileAtomic(data + "/x.csv", "1,2\n"));
  rig.config.data_folder = data;
  rig.config.copy_data = RunConfig::CopyData::kYes;
  rig.config.stages[0].max_iters = 1;
  static_cast<void>(rig.Start());
  ASSERT_FALSE(rig.Nodes().empty());
  EXPECT_EQ(rig.File(rig.Nodes()[0].workspace_path + "/input/x.csv"), "1,2\n");
  EXPECT_THAT(rig.model().Calls("draft").front().prompt, HasSubstr("/workspace/input, a copy"));

  RunRig bound;
  bound.config.data_folder = data;
  bound.config.copy_data = RunConfig::CopyData::kNo;
  const auto setup = SetUpRun(bound.Order(RunOrder::Mode::kStart), CancelToken());
  ASSERT_TRUE(setup) << setup.error().message;
  const Services& services = (*setup)->driver.services;
  EXPECT_EQ(services.data, "");
  ASSERT_EQ(services.binds.size(), 1U);
  EXPECT_EQ(services.binds[0].host, data);
  EXPECT_EQ(services.binds[0].mount, "/workspace/input");
  EXPECT_EQ(services.binds[0].access, Bind::Access::kRead);

  // By default data are copied only if that costs nothing, and the model is told which applies.
  RunRig either;
  either.config.data_folder = data;
  const auto chosen = SetUpRun(either.Order(RunOrder::Mode::kStart), CancelToken());
  ASSERT_TRUE(chosen) << chosen.error().message;
  const bool shares = CloneFile(data + "/x.csv", either.folder() + "/trial").has_value();  // FLT-68
  EXPECT_EQ((*chosen)->driver.services.data, shares ? data : "");
  EXPECT_EQ((*chosen)->driver.services.binds.size(), shares ? 0U : 1U);
  EXPECT_THAT(ToJson((*chosen)->driver.prefix.domain),
              HasSubstr(shares ? "a copy that commands may change" : "read-only"));

  RunRig absent;
  absent.config.data_folder = data + "/absent";
  EXPECT_THAT(absent.Start(), FailsWith(ErrorCode::kConfig, "experiment.data_folder"));
}

TEST(RunTest, TheBestIsRunAgainWithOtherSeeds) {  // RSP-36, RSP-T15
  RunRig rig;
  rig.config.num_seeds = 2;
  ASSERT_TRUE(rig.Start());
  std::vector<std::int64_t> seeds;
  const Node* sum = nullptr;
  const std::vector<Node> nodes = rig.Nodes();
  for (const Node& node : nodes) {
    if (!node.stage.starts_with("1_") || !node.is_seed_node) continue;
    if (node.is_seed_agg_node) sum = &node;
    if (node.seed_value) seeds.push_back(*node.seed_value);
  }
  EXPECT_THAT(seeds, ElementsAre(0, 1));
  ASSERT_NE(sum, nullptr);
  EXPECT_THAT(ToJson(sum->summary), HasSubstr("\"mean\":31"));
  EXPECT_THAT(rig.File("logs/baseline_summary.json"), HasSubstr("\"mean\": 31"));
}

// Records the seeds with which sandboxes were started.
class SeedWatcher final : public ExecBackend {
 public:
  SeedWatcher(std::unique_ptr<ExecBackend> inner, std::set<std::string>* seeds)
      : inner_(std::move(inner)), seeds_(seeds) {}

  Status Start(const SandboxSpec& spec) override {
    for (const std::string& entry : spec.environment) {
      if (entry.starts_with("DOSSIER_SEED=")) seeds_->insert(entry);
    }
    return inner_->Start(spec);
  }
  Result<ExecResult> Run(const ExecCommand& command, const CancelToken& cancel) override {
    return inner_->Run(command, cancel);
  }
  Result<ImageRef> Snapshot(std::string_view name) override { return inner_->Snapshot(name); }
  SandboxFacts Facts() const override { return inner_->Facts(); }
  void Stop() noexcept override { inner_->Stop(); }

 private:
  const std::unique_ptr<ExecBackend> inner_;
  std::set<std::string>* const seeds_;
};

TEST(RunTest, EachRerunHasItsSeedInItsEnvironment) {  // RSP-36, RSP-T15
  RunRig rig;
  rig.config.num_seeds = 2;
  RunOrder order = rig.Order(RunOrder::Mode::kStart);
  order.stages = {1};
  std::set<std::string> seeds;
  order.backend = [&seeds, scripted = order.backend](
                      std::string_view worker) -> Result<std::unique_ptr<ExecBackend>> {
    DOSSIER_ASSIGN_OR_RETURN(auto inner, scripted(worker));
    return std::make_unique<SeedWatcher>(std::move(inner), &seeds);
  };
  ASSERT_TRUE(research::Run(order, CancelToken()));
  EXPECT_THAT(seeds, ElementsAre("DOSSIER_SEED=0", "DOSSIER_SEED=1"));
}

TEST(RunTest, AnUnknownChoiceOfTheBestNodeGivesTheBestByMetric) {  // RSP-37
  RunRig rig;
  const auto outcome = rig.Start();
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->warnings, Contains(HasSubstr("named nobody, which is no candidate")));
  const auto calls = rig.model().Calls();
  const auto asked = std::find_if(calls.begin(), calls.end(), [](const ScriptedCall& call) {
    return call.label.starts_with("best_node") && call.attempt == 1;
  });
  ASSERT_NE(asked, calls.end());
  EXPECT_THAT(asked->prompt, HasSubstr("Metric: speedup"));
  // Every candidate keeps its id (8.6), and reruns are not candidates.
  std::size_t candidates = 0;
  for (const Node& node : rig.Nodes()) {
    if (asked->label.find(node.stage) == std::string::npos || !IsGood(node)) continue;
    const bool shown =
        asked->prompt.find(fmt::format("\"id\":\"{}\"", node.id)) != std::string::npos;
    EXPECT_EQ(shown, !node.is_seed_node) << node.id;
    candidates += shown ? 1 : 0;
  }
  EXPECT_GE(candidates, 2u);
}

TEST(RunTest, WithoutAGoodNodeTheRunFailsAndSaysWhatWentWrong) {  // RSP-35, section 6
  RunRig rig;
  rig.replies["debug"] = "not a program";
  rig.config.stages[0].max_iters = 3;
  const auto outcome = rig.Start();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, RunEnd::kFailed);
  EXPECT_EQ(outcome->reason, "no_working_implementation");
  EXPECT_THAT(rig.File(outcome->report_path), HasSubstr("RuntimeError 2"));
  EXPECT_THAT(rig.File(outcome->report_path), HasSubstr("PhasePlanError 1"));
  EXPECT_EQ(rig.Nodes().size(), 3u);

  rig.replies.clear();
  RunOrder again = rig.Order(RunOrder::Mode::kResume);
  again.retry = RunOrder::Retry::kFailed;
  const auto retried = research::Run(again, CancelToken());
  ASSERT_TRUE(retried) << retried.error().message;
  EXPECT_EQ(retried->end, RunEnd::kDone);
}

TEST(RunTest, AStageWhoseGoalsAreNotMetGoesOnWithNewOnes) {  // RSP-31, RSP-35, RSP-T15
  RunRig rig;
  rig.config.stages = {StageCap{6}, {8}, {2}, {2}};
  rig.replies["stage_completion_2"] =
      R"({"is_complete": false, "reasoning": "one input", "missing_criteria": ["inputs"]})";
  rig.replies["stage_progression"] =
      R"({"ready_for_next_stage": false, "reasoning": "no", "recommendations": "inputs"})";
  rig.replies["substage_goal"] =
      R"({"name": "More inputs", "description": "", "goals": "three inputs", "max_iterations": 2})";
  const auto outcome = rig.Start();
  ASSERT_TRUE(outcome) << outcome.error().message;
  const std::vector<std::string> stages = rig.EventsOf("stage.ended", "stage");
  ASSERT_GE(stages.size(), 5u);
  EXPECT_EQ(stages[1], "2_baseline_tuning_1_first_attempt");
  EXPECT_EQ(stages[2], "2_baseline_tuning_2_More_inputs");
  // Its tree begins with a copy of the best node so far, and only the last part is rerun.
  std::string first_of_substage;
  for (const Node& node : rig.Nodes()) {
    EXPECT_FALSE(node.stage == stages[1] && node.is_seed_node);
    if (node.stage == stages[2] && first_of_substage.empty()) {
      first_of_substage = node.inherited_from_node_id;
      EXPECT_EQ(node.kind, NodeKind::kCopy);
      EXPECT_EQ(node.parent_id, "");
    }
  }
  EXPECT_NE(first_of_substage, "");
}

TEST(RunTest, AShortRunIsToldToItsChildrenInTheSecondHalfOfStage3) {  // RSP-35, RSP-T15
  RunRig rig;
  rig.config.stages = {StageCap{6}, {2}, {4}, {2}};
  ASSERT_TRUE(rig.Start());
  const auto calls = rig.model().Calls("improve");
  ASSERT_GE(calls.size(), 4u);
  EXPECT_THAT(calls.front().prompt, ::testing::Not(HasSubstr("less than half of the 3600 s")));
  EXPECT_THAT(calls.back().prompt, HasSubstr("less than half of the 3600 s"));
}

TEST(RunTest, AnIdeaThatDoesNotComeLeavesItsSlotEmpty) {  // RSP-6, 4.2
  RunRig rig;
  rig.replies["tuning_idea"] = "I have none.";
  const auto outcome = rig.Start();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, RunEnd::kDone);
  EXPECT_THAT(outcome->warnings, Contains(HasSubstr("no idea for this slot, it stays empty")));
  for (const Node& node : rig.Nodes()) EXPECT_NE(node.kind, NodeKind::kTuning);
}

// A run that has just begun: copies of it have the same ids.
void Begin(RunRig& rig) {
  CancelSource source;
  rig.watch = [&](const store::Event&) { source.Cancel("begun"); };
  ASSERT_THAT(research::Run(rig.Order(RunOrder::Mode::kStart), source.token()),
              FailsWith(ErrorCode::kCancelled, "begun"));
  rig.watch = {};
}

void UseFourSlots(RunRig& rig) {
  rig.config.num_workers = 4;
  rig.config.num_drafts = 4;
  rig.config.stages = {StageCap{8}, {4}, {4}, {4}};
}

struct Traces {
  std::string tree;
  std::map<std::string, std::string> prompts, requests, memory;  // by place, by branch
};

// Continues the run that began in `folder` in a copy of it, and records the results.
void GoOnInACopy(const std::string& folder, int parallel, Traces* traces) {
  const TempFolder place = *TempFolder::Make("copy");
  const std::string copy = place.path() + "/" + std::string(RunRig::kName);
  std::filesystem::copy(folder, copy, std::filesystem::copy_options::recursive);
  RunRig rig(copy);
  UseFourSlots(rig);
  rig.config.max_parallel = parallel;
  const auto outcome = rig.Resume();
  ASSERT_TRUE(outcome) << outcome.error().message;
  for (const std::string& stage : rig.EventsOf("stage.ended", "stage")) {
    traces->tree += rig.File("logs/stage_" + stage + "/journal.json");
  }
  for (const ScriptedCall& call : rig.model().Calls()) {
    traces->prompts[call.request.path] = call.prompt;
  }
  for (const store::Event& event : rig.Events()) {
    if (event.type != "call.sent") continue;
    const Json data(event.data);
    traces->requests[std::string(*FindString(data, "place"))] = *FindString(data, "request");
  }
  traces->memory = MemoryShown(copy);
}

// RSP-34, RSP-T21
TEST(RunTest, SlotsOneOrFourAtATimeGiveTheSameTreeMemoryAndPrompts) {
  RunRig begun;
  UseFourSlots(begun);
  Begin(begun);
  Traces one, four;
  GoOnInACopy(begun.folder(), 1, &one);
  GoOnInACopy(begun.folder(), 4, &four);
  EXPECT_EQ(one.tree, four.tree);
  EXPECT_EQ(one.memory, four.memory);
  ASSERT_GT(one.prompts.size(), 100u);
  ASSERT_EQ(one.prompts.size(), four.prompts.size());
  for (const auto& [place, prompt] : one.prompts) EXPECT_EQ(four.prompts[place], prompt) << place;
  EXPECT_EQ(one.requests, four.requests);  // hashes of the sent bytes
}

TEST(RunTest, APhaseOrStageThatUntilNamesIsTheLast) {  // 3.1
  RunRig rig;
  RunOrder order = rig.Order(RunOrder::Mode::kStart);
  order.until = Step::kPhase0;
  auto outcome = research::Run(order, CancelToken());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, RunEnd::kStopped);
  EXPECT_TRUE(rig.Nodes().empty());
  EXPECT_TRUE(rig.model().Calls("draft").empty());
  EXPECT_EQ(rig.model().Calls("phase0_plan").size(), 2u);

  order = rig.Order(RunOrder::Mode::kResume);
  order.until = Step::kStage1;
  outcome = research::Run(order, CancelToken());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(Kinds(rig.Nodes()), "draft draft debug debug seed seed");
  EXPECT_EQ(rig.model().Calls("phase0_plan").size(),
            4u);  // those of the drafts are not asked again
}

TEST(RunTest, ALimitEndsTheRunWithItsResultsWritten) {  // RSP-46, RSP-T22
  for (const std::string_view limit : {"cost", "tokens"}) {
    RunRig rig;
    rig.config.max_cost_usd = limit == "cost" ? std::optional(30e-6) : std::nullopt;
    if (limit == "tokens") rig.config.max_tokens = 60'000;
    auto outcome = rig.Start();
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->end, RunEnd::kLimited);
    EXPECT_THAT(outcome->reason, HasSubstr(limit));
    EXPECT_THAT(rig.File(outcome->report_path), HasSubstr("The run ended: limited"));
    EXPECT_THAT(rig.EventsOf("limit.reached", "reason"), ElementsAre(HasSubstr(limit)));
    const std::size_t asked = rig.model().Calls().size();

    outcome = rig.Resume();  // the limit is unchanged
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->end, RunEnd::kLimited);
    EXPECT_EQ(rig.model().Calls().size(), asked);
    // Numbers are those of the whole run, not of this process's remainder.
    if (limit == "tokens") {
      EXPECT_THAT(outcome->reason, HasSubstr("of 60,000 used"));
    }

    rig.config.max_cost_usd.reset();
    rig.config.max_tokens.reset();
    outcome = rig.Resume();
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->end, RunEnd::kDone);
  }
}

TEST(RunTest, TheTimeOfARunEndsCallsInFlight) {  // RSP-46, RSP-T22
  RunRig rig;
  rig.config.max_seconds = 0;
  const auto outcome = rig.Start();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, RunEnd::kLimited);
  EXPECT_THAT(outcome->reason, HasSubstr("seconds"));
}

TEST(RunTest, AResumeTakesNoOtherConfiguration) {  // RSP-48
  RunRig rig;
  RunOrder order = rig.Order(RunOrder::Mode::kStart);
  order.until = Step::kPhase0;
  ASSERT_TRUE(research::Run(order, CancelToken()));
  rig.config.num_drafts = 7;
  EXPECT_THAT(rig.Resume(), FailsWith(ErrorCode::kConfig, "search.num_drafts"));
  // An edited file in the run folder is not accepted either.
  ASSERT_TRUE(WriteFileAtomic(rig.folder() + "/config.yaml", ConfigYaml(rig.config)));
  EXPECT_THAT(rig.Resume(), FailsWith(ErrorCode::kConfig, "search.num_drafts"));
}

TEST(RunTest, AResumeTakesNoOtherIdea) {  // RSP-48
  RunRig rig;
  RunOrder order = rig.Order(RunOrder::Mode::kStart);
  order.until = Step::kPhase0;
  ASSERT_TRUE(research::Run(order, CancelToken()));
  const std::string before = rig.File("idea.md");
  order = rig.Order(RunOrder::Mode::kResume);
  order.idea += "\nmore\n";
  EXPECT_THAT(research::Run(order, CancelToken()),
              FailsWith(ErrorCode::kConfig, "idea.md has changed since the run began"));
  EXPECT_EQ(rig.File("idea.md"), before);
}

TEST(RunTest, ARefusedResumeLeavesHowTheRunReachesItsModel) {  // RSP-47
  RunRig rig;
  RunOrder order = rig.Order(RunOrder::Mode::kStart);
  order.until = Step::kPhase0;
  order.connection = {{"base_url", "http://127.0.0.1:8080"}};
  ASSERT_TRUE(research::Run(order, CancelToken()));
  order = rig.Order(RunOrder::Mode::kResume);
  order.open_model = [](const std::string&) -> Result<driver::BoundModel> {
    return MakeError(ErrorCode::kConfig, "no such model");
  };
  EXPECT_THAT(research::Run(order, CancelToken()), FailsWith(ErrorCode::kConfig, "no such model"));
  EXPECT_THAT(rig.File("run.json"), HasSubstr("http://127.0.0.1:8080"));
}

TEST(RunTest, ACancelledRunGoesOnWhereItWas) {  // RSP-47
  RunRig rig;
  CancelSource source;
  rig.watch = [&](const store::Event& event) {
    if (event.type == "node.finished") source.Cancel("interrupted");
  };
  EXPECT_THAT(research::Run(rig.Order(RunOrder::Mode::kStart), source.token()),
              FailsWith(ErrorCode::kCancelled, "interrupted"));
  rig.watch = {};
  const auto outcome = rig.Resume();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, RunEnd::kDone);
  std::map<std::string, int> asked;
  for (const ScriptedCall& call : rig.model().Calls()) ++asked[call.request.path];
  for (const auto& [place, times] : asked) EXPECT_EQ(times, 1) << place;
}

}  // namespace
}  // namespace dossier::research
