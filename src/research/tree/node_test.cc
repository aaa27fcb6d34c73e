#include "research/tree/node.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;

Node FullNode() {
  Node node{.id = NodeId("run", "stage", 0, 0), .parent_id = NodeId("run", "stage", 0, 1)};
  node.children = {"a", "b"};
  node.step = 3;
  node.ctime = "2026-01-28T17:46:11.000Z";
  node.stage = "1_initial_implementation_1_preliminary";
  node.kind = NodeKind::kImprove;
  node.branch_id = "n3";
  node.plan = "plan";
  node.code = "int main() {}";
  node.phase_artifacts = *ParseJson(R"({"run":{"commands":["./a"]}})");
  node.exec_time = 41.25;
  node.exc_type = "RuntimeError";
  node.exc_info = "exit 1";
  node.term_out = "…";
  node.analysis = "fast";
  node.metric = Metric{{.name = "speedup", .description = "x", .values = {{"large", 3.12}}}};
  node.is_buggy = node.is_buggy_plots = node.is_seed_node = node.is_seed_agg_node = true;
  node.plots = {"nodes/a/plots/p.png"};
  node.plot_code = "plt";
  node.plot_plan = "one curve";
  node.plot_analyses = {"a line"};
  node.vlm_feedback_summary = "good";
  node.datasets_successfully_tested = {"large"};
  node.exec_time_feedback = "short", node.hyperparam_name = "lr", node.ablation_name = "no cache";
  node.seed_value = 2;
  node.inherited_from_node_id = "c";
  node.workspace_path = "nodes/a/workspace";
  node.worker_image = "w.sif";
  node.usage = {
      .calls = 2,
      .total = {.input = 10, .output = 5, .cached = 3, .cache_write = 4, .cost_nano_usd = 7}};
  node.phase0_plan = *ParseJson(R"({"goal_summary":"g"})");
  node.history = *ParseJson(R"({"phase_summaries":[]})");
  node.summary = *ParseJson(R"({"findings":"f"})");
  node.failure = "refused: …";
  return node;
}

TEST(NodeTest, EveryFieldIsWrittenAndReadBack) {
  const JsonObject json = NodeJson(FullNode());
  const auto again = ReadNode(json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(NodeJson(*again), json);
  // No field has its default, so that a field that is not read back would be noticed.
  const JsonObject empty = NodeJson(Node{.id = "x", .kind = NodeKind::kDraft});
  for (const auto& [name, value] : json) EXPECT_NE(value, empty.at(name)) << name;
  for (const std::string_view field :
       {"id", "parent_id", "children", "step", "ctime", "stage", "branch_id", "phase_artifacts",
        "exec_time", "exc_type", "metric", "is_buggy_plots", "datasets_successfully_tested",
        "inherited_from_node_id", "workspace_path", "usage"}) {
    EXPECT_TRUE(json.contains(field)) << field;
  }
}

TEST(NodeTest, AWrongFieldIsNamed) {
  const struct {
    std::string_view json, message;
  } kCases[] = {
      {"[]", "object"},
      {R"({"kind":"draft"})", "id must be"},
      {R"({"id":"a","kind":"poem"})", "kind must be"},
      {R"({"id":"a","kind":"draft","step":"3"})", "step must be a whole number"},
      {R"({"id":"a","kind":"draft","children":[1]})", "children must be a list of texts"},
      {R"({"id":"a","kind":"draft","is_buggy":1})", "is_buggy must be true or false"},
      {R"({"id":"a","kind":"draft","metric":[{}]})", "metric_names[0].metric_name"},
      {R"({"id":"a","kind":"draft","usage":3})", "usage must be an object"},
  };
  for (const auto& example : kCases) {
    EXPECT_THAT(ReadNode(*ParseJson(example.json)),
                FailsWith(ErrorCode::kDamaged, std::string(example.message)))
        << example.json;
  }
}

TEST(NodeTest, TheIdIsOfItsPlaceAlone) {  // RSP-34
  EXPECT_EQ(NodeId("r", "s", 1, 2), NodeId("r", "s", 1, 2));
  EXPECT_EQ(NodeId("r", "s", 1, 2).size(), 32u);
  EXPECT_NE(NodeId("r", "s", 1, 2), NodeId("r", "s", 2, 1));
  EXPECT_NE(NodeId("r", "s", 11, 2), NodeId("r", "s", 1, 12));
}

TEST(NodeTest, DebugDepthCountsTheDebugNodesInARow) {
  Tree tree;
  tree.nodes = {{.id = "a"},
                {.id = "b", .parent_id = "a", .kind = NodeKind::kDebug},
                {.id = "c", .parent_id = "b", .kind = NodeKind::kDebug},
                {.id = "d", .parent_id = "c", .kind = NodeKind::kImprove},
                {.id = "e", .parent_id = "d", .kind = NodeKind::kDebug}};
  const int kDepths[] = {0, 1, 2, 0, 1};
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    EXPECT_EQ(tree.DebugDepth(tree.nodes[i]), kDepths[i]) << tree.nodes[i].id;
    EXPECT_EQ(tree.RootOf(tree.nodes[i])->id, "a");
  }
  EXPECT_EQ(tree.Find("x"), nullptr);
}

TEST(NodeTest, ParentsInACircleEnd) {
  Tree tree;
  tree.nodes = {{.id = "a", .parent_id = "b", .kind = NodeKind::kDebug},
                {.id = "b", .parent_id = "a", .kind = NodeKind::kDebug}};
  EXPECT_LE(tree.DebugDepth(tree.nodes[0]), 2);
  EXPECT_NE(tree.RootOf(tree.nodes[0]), nullptr);
}

}  // namespace
}  // namespace dossier::research
