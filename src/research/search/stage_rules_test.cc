#include "research/search/stage_rules.h"

#include <gtest/gtest.h>

#include "research/node/select.h"

namespace dossier::research {
namespace {

Node NodeOf(std::string id, std::optional<double> speed) {
  Node node{.id = std::move(id), .is_buggy = !speed};
  if (speed) node.metric = Metric{{.name = "speed", .values = {{"x", *speed}}}};
  return node;
}

TEST(StageRulesTest, NamesAreMadeAndRead) {  // RSP-31
  EXPECT_EQ(FirstSubstage(1), "1_initial_implementation_1_preliminary");
  EXPECT_EQ(FirstSubstage(2), "2_baseline_tuning_1_first_attempt");
  EXPECT_EQ(SubstageName(4, 2, "no cache!/.."), "4_ablation_studies_2_no_cache");
  const auto name = ParseStageName("3_creative_research_12_wider_net");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->main, 3);
  EXPECT_EQ(name->sub, 12);
  EXPECT_EQ(name->goal, "wider_net");
  for (const std::string_view bad :
       {"", "1", "5_x_1_y", "1_baseline_tuning_1_a", "1_initial_implementation_1",
        "1_initial_implementation_x_a", "1_initial_implementation_0_a"}) {
    EXPECT_FALSE(ParseStageName(bad)) << bad;
  }
}

// RSP-T15: each branch of the ends.
TEST(StageRulesTest, EachStageEndsByItsOwnRule) {  // RSP-35
  const Node good = NodeOf("g", 1), bad = NodeOf("b", std::nullopt), better = NodeOf("n", 2);
  Node ablation = NodeOf("a", 0.5);
  ablation.ablation_name = "no cache";
  Node bad_ablation = NodeOf("a", std::nullopt);
  bad_ablation.ablation_name = "no cache";
  const struct {
    std::string_view about;
    int stage;
    std::int64_t made, cap;
    std::vector<Node> nodes;
    StageStep step;
  } kCases[] = {
      {"nothing yet", 1, 0, 5, {}, StageStep::kGoOn},
      {"only buggy", 1, 4, 5, {bad}, StageStep::kGoOn},
      {"a good node", 1, 4, 5, {bad, good}, StageStep::kDone},
      {"a good node at the cap", 1, 5, 5, {good}, StageStep::kDone},
      {"the cap without one", 1, 5, 5, {bad}, StageStep::kNoWorkingProgram},
      {"no better than the start", 2, 3, 5, {good, bad}, StageStep::kGoOn},
      {"as good as the start", 2, 3, 5, {good, NodeOf("h", 1)}, StageStep::kGoOn},
      {"better than the start", 2, 3, 5, {good, better}, StageStep::kAsk},
      {"the cap", 2, 5, 5, {good}, StageStep::kDone},
      {"stage 3 goes on to its cap", 3, 4, 5, {good, better}, StageStep::kGoOn},
      {"stage 3 at its cap", 3, 5, 5, {good, better}, StageStep::kDone},
      {"no ablation", 4, 2, 5, {good, better}, StageStep::kGoOn},
      {"a buggy ablation", 4, 2, 5, {good, bad_ablation}, StageStep::kGoOn},
      {"a good ablation", 4, 2, 5, {good, ablation}, StageStep::kAsk},
      {"stage 4 at its cap", 4, 5, 5, {good}, StageStep::kDone},
  };
  for (const auto& example : kCases) {
    const Tree tree{example.nodes};
    EXPECT_EQ(NextStep({.stage = example.stage,
                        .made = example.made,
                        .cap = example.cap,
                        .tree = &tree,
                        .best = BestNode(tree, ""),
                        .start = "g"}),
              example.step)
        << "stage " << example.stage << ": " << example.about;
  }
}

TEST(StageRulesTest, AShortBestRunIsToldAfterHalfOfTheThirdStage) {  // RSP-35
  Tree tree{{NodeOf("g", 1)}};
  tree.nodes[0].exec_time = 12;
  StageFacts facts{.stage = 3, .made = 5, .cap = 10, .tree = &tree, .best = &tree.nodes[0]};
  ASSERT_TRUE(ExecTimeFeedback(facts, 3600));
  EXPECT_NE(ExecTimeFeedback(facts, 3600)->find("12 s"), std::string::npos);
  EXPECT_FALSE(ExecTimeFeedback(facts, 24));
  facts.made = 4;
  EXPECT_FALSE(ExecTimeFeedback(facts, 3600));
  facts.made = 5, facts.stage = 2;
  EXPECT_FALSE(ExecTimeFeedback(facts, 3600));
}

}  // namespace
}  // namespace dossier::research
