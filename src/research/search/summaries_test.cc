#include "research/search/summaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "testing/research_rig_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> KeysOf(const Json& object) {
  std::vector<std::string> keys;
  if (!object.is_object()) return keys;
  for (const auto& [key, value] : object.as_object()) keys.emplace_back(key);
  return keys;
}

TEST(SummariesTest, EachStageHasItsFile) {  // RSP-39
  constexpr std::pair<int, std::string_view> kCases[] = {
      {1, "baseline"}, {2, "baseline"}, {3, "research"}, {4, "ablation"}};
  for (const auto& [stage, name] : kCases) {
    EXPECT_EQ(SummaryName(stage), name);
    ResearchRig rig;
    rig.caller.Reply("run_summary", R"({"Description":"done"})");
    ASSERT_THAT(SummarizeStage(rig.services, rig.results, TwoNodes(stage), {}), Succeeds());
    const Json summary = rig.ReadJson(fmt::format("logs/{}_summary.json", name));
    EXPECT_EQ(FindString(*Find(summary, "text"), "Description"), "done");
    EXPECT_EQ(FindString(*Find(summary, "best_node"), "metric"), "speedup↑[large:3.12]");
    EXPECT_NE(Find(summary, stage == 4 ? "ablations" : "nodes"), nullptr);
  }
}

// The second substage begins with a copy of the best of the first, and adds a node.
TEST(SummariesTest, AStageTellsOfAllItsSubstagesAndAsksAtTheEndOfEach) {  // RSP-39
  ResearchRig rig;
  StageResults first = TwoNodes(4);
  first.name = "4_ablation_1";
  first.rounds = 2;
  Node other = first.tree.nodes[0];
  other.id = std::string(32, 'c');
  other.metric->at(0).values[0].value = 2.0;
  first.tree.nodes.push_back(other);
  StageResults second{.stage = 4, .name = "4_ablation_2", .rounds = 1};
  Node copy = first.tree.nodes[0];
  copy.inherited_from_node_id = copy.id;
  copy.id = std::string(32, 'd');
  copy.kind = NodeKind::kCopy;
  Node added = other;
  added.id = std::string(32, 'e');
  added.metric->at(0).values[0].value = 2.5;
  second.tree.nodes = {copy, added};
  second.best_node = copy.id;
  rig.results.stages = {TwoNodes(3), first, second};
  ASSERT_THAT(SummarizeStage(rig.services, rig.results, rig.results.stages[1], {}), Succeeds());
  ASSERT_THAT(SummarizeStage(rig.services, rig.results, rig.results.stages[2], {}), Succeeds());
  const Json summary = rig.ReadJson("logs/ablation_summary.json");
  std::vector<std::string> ids;
  for (const Json& record : Find(summary, "ablations")->as_array()) {
    ids.emplace_back(TextAt(record, "id"));
  }
  EXPECT_THAT(ids, ElementsAre(added.id, other.id));
  rig.results.stages[2].rounds = 3;  // a retry added two rounds
  ASSERT_THAT(SummarizeStage(rig.services, rig.results, rig.results.stages[2], {}), Succeeds());
  std::set<std::string> labels;  // a label that comes again gets the recorded reply
  for (const CallRequest& request : rig.caller.requests) labels.insert(request.label);
  EXPECT_EQ(labels.size(), 3u);
  for (const CallRequest& request : rig.caller.requests) {
    EXPECT_THAT(ToJson(request.sections.at(0).value), HasSubstr("ablations"));
  }
}

TEST(SummariesTest, WithoutAnAnswerTheRecordsSpeakAndAWarningIsJournalled) {  // RSP-6, RSP-39
  for (const Models models : {Models::kAsk, Models::kNone}) {
    ResearchRig rig;
    rig.results.models = models;
    const auto summary = SummarizeStage(rig.services, rig.results, TwoNodes(), {});
    ASSERT_THAT(summary, Succeeds());
    const Json& text = *Find(*summary, "text");
    EXPECT_EQ(FindString(text, "made_by"), "program");
    EXPECT_EQ(FindInt(text, "good"), 1);
    EXPECT_EQ(FindInt(text, "buggy"), 1);
    EXPECT_EQ(FindString(text, "best_metric"), "speedup↑[large:3.12]");
    EXPECT_EQ(rig.log->EventsOf("warning")->size(), models == Models::kAsk ? 1U : 0U);
  }
}

TEST(SummariesTest, AFilterKeepsTheFieldsOfItsPromptAndTheAblations) {  // RSP-39
  const Json record = NodeRecord(TwoNodes().tree.nodes[0]);
  const Json all =
      JsonObject{{"ablation", JsonObject{{"best_node", record}, {"ablations", JsonArray{record}}}}};
  struct Case {
    SummaryFilter filter;
    std::vector<std::string> fields;
  };
  const Case kCases[] = {
      {SummaryFilter::kCitations,
       {"id", "stage", "kind", "name", "overall_plan", "analysis", "metric", "vlm_feedback_summary",
        "phase0_plan", "phase1_steps_summary", "phase3_compile_log_summary",
        "phase4_run_log_summary", "phase_artifacts_summary"}},
      {SummaryFilter::kWriteup,
       {"id", "stage", "kind", "name", "overall_plan", "analysis", "metric", "vlm_feedback_summary",
        "phase0_plan", "phase1_steps_summary", "phase3_compile_log_summary",
        "phase4_run_log_summary", "phase_artifacts_summary", "code", "plot_analyses"}},
      {SummaryFilter::kPlots,
       {"id", "stage", "kind", "name", "overall_plan", "analysis", "vlm_feedback_summary",
        "plot_plan", "plot_code", "plot_analyses", "exp_results_npy_files"}},
  };
  for (const Case& c : kCases) {
    const Json filtered = FilterSummaries(all, c.filter);
    const Json& ablation = *Find(filtered, "ablation");
    EXPECT_EQ(KeysOf(*Find(ablation, "best_node")), c.fields);
    ASSERT_NE(Find(ablation, "ablations"), nullptr);
    EXPECT_EQ(KeysOf(Find(ablation, "ablations")->as_array().at(0)), c.fields);
  }
}

TEST(SummariesTest, ResultFilesAreTheArraysThatANodeWrites) {  // RSP-39
  const Node node = TwoNodes().tree.nodes[0];
  EXPECT_THAT(ResultFiles(node), ElementsAre(node.workspace_path + "/working/x.npy"));
  EXPECT_THAT(ResultFiles(Node()), ElementsAre());
}

}  // namespace
}  // namespace dossier::research
