#include "research/search/steering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/files/file.h"
#include "research/search/stage_rules.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class SteeringTest : public ::testing::Test {
 protected:
  const std::string& folder() const { return temp_.path(); }
  std::string File() const { return ReadFile(folder() + "/steering.jsonl").value_or(""); }

  TempFolder temp_ = *TempFolder::Make("steering");
  std::unique_ptr<ResearchLog> log_ = *ResearchLog::Start(folder(), {}, SystemClock(), {});
};

TEST_F(SteeringTest, OrdersAreTakenOnceAndARoundThatWasSelectedKeepsItsOwn) {  // FLT-73
  Steering steering(log_.get());
  EXPECT_EQ(steering.Take("round.selected", "s/0").value(), 0U);
  ASSERT_THAT(LeaveOrder(folder(), {.kind = SteerKind::kPin, .node = "a", .time = "1"}),
              Succeeds());
  ASSERT_THAT(LeaveOrder(folder(), {.kind = SteerKind::kHint, .node = "b", .text = "x"}),
              Succeeds());
  EXPECT_EQ(steering.Take("round.selected", "s/1").value(), 2U);
  EXPECT_EQ(steering.Take("round.selected", "s/1").value(), 2U);
  ASSERT_TRUE(log_->Add("round.selected", "s/1", {{"steered", 2}}));
  ASSERT_THAT(LeaveOrder(folder(), {.kind = SteerKind::kFree, .node = "a", .time = "2"}),
              Succeeds());
  // A resume sees the earlier round with its orders, and the next one with all.
  log_.reset();
  log_ = *ResearchLog::Reopen(folder(), SystemClock(), {});
  Steering again(log_.get());
  EXPECT_EQ(again.Take("round.selected", "s/1").value(), 2U);
  EXPECT_EQ(again.Take("round.selected", "s/2").value(), 3U);
  EXPECT_EQ(again.First(3)[0].kind, SteerKind::kPin);
  EXPECT_EQ(again.First(3)[1].text, "x");
  EXPECT_EQ(again.First(3)[2].kind, SteerKind::kFree);
  EXPECT_EQ(log_->EventsOf(kSteered)->size(), 3U);
}

TEST_F(SteeringTest, LinesThatAreNoOrdersAndSecretsDoNoHarm) {
  ASSERT_THAT(LeaveOrder(folder(), {.kind = SteerKind::kHint,
                                    .node = "a",
                                    .text = "use sk-"
                                            "proj-Zq8Lw2Xv9Rt4Kp7Nm3Bc6Hd1 for it"}),
              Succeeds());
  EXPECT_THAT(File(), Not(HasSubstr("Zq8Lw2Xv9Rt4Kp7")));
  std::ofstream(folder() + "/steering.jsonl", std::ios::app)
      << "no json\n{\"kind\":\"fly\",\"node\":\"a\"}\n{\"kind\":\"pin\"}\n[1]\n{\"kind\":\"pi";
  Steering steering(log_.get());
  EXPECT_EQ(steering.Take("round.selected", "s/0").value(), 1U);
}

Node NodeOf(std::string id, std::string parent, std::int64_t step) {
  return {.id = std::move(id), .parent_id = std::move(parent), .step = step};
}

TEST(SteerNodesTest, WhatIsWantedOfANodeIsWantedOfItsChildrenAndItsCopy) {  // FLT-73
  RunResults results;
  results.stages.push_back({.stage = 1, .name = "one"});
  results.stages[0].tree.nodes = {NodeOf("a", "", 0), NodeOf("b", "a", 1), NodeOf("c", "", 2)};
  results.stages.push_back({.stage = 2, .name = "two"});
  Node copy = NodeOf("d", "", 0);
  copy.kind = NodeKind::kCopy;
  copy.inherited_from_node_id = "a";
  results.stages[1].tree.nodes = {copy, NodeOf("e", "d", 1)};
  const auto steers = [&](const std::vector<SteerOrder>& orders) {
    SteerNodes(orders, &results);
    std::string out;
    for (const StageResults& stage : results.stages) {
      for (const Node& node : stage.tree.nodes) {
        out += node.id + "-+x"[static_cast<std::size_t>(node.steer)];
      }
    }
    return out;
  };
  const SteerOrder pin{.kind = SteerKind::kPin, .node = "a"};
  EXPECT_EQ(steers({}), "a-b-c-d-e-");
  EXPECT_EQ(steers({pin}), "a+b+c-d+e+");
  EXPECT_EQ(steers({pin, {.kind = SteerKind::kPrune, .node = "b"}}), "a+bxc-d+e+");
  EXPECT_EQ(steers({pin, {.kind = SteerKind::kPrune, .node = "a"}}), "axbxc-dxex");
  EXPECT_EQ(steers({pin, {.kind = SteerKind::kFree, .node = "a"}}), "a-b-c-d-e-");
}

TEST(SteerNodesTest, NamesCountByKindInTheOrderOfTheirMakingWithThoseThatRun) {  // FLT-75
  RunResults results;
  results.stages.push_back({.stage = 1, .name = "one"});
  results.stages[0].tree.nodes = {NodeOf("a", "", 0), NodeOf("c", "", 2)};
  std::vector<Node> running = {NodeOf("b", "", 1)};
  running[0].stage = "one";
  const SteerOrder called{.kind = SteerKind::kName, .node = "c", .text = "blocked"};
  SteerNodes(std::span(&called, 1), &results, running);
  EXPECT_EQ(results.stages[0].tree.nodes[0].name, "draft 1");
  EXPECT_EQ(running[0].name, "draft 2");
  EXPECT_EQ(results.stages[0].tree.nodes[1].name, "blocked");
  SteerNodes({}, &results, running);
  EXPECT_EQ(results.stages[0].tree.nodes[1].name, "draft 3");
}

}  // namespace
}  // namespace dossier::research
