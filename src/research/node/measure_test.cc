#include "research/node/node_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "testing/research_rig_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

namespace fs = std::filesystem;

using ::dossier::testing::Succeeds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string MetricsOf(double value) {
  return fmt::format(
      R"({{"valid_metrics_received":true,"metric_names":[{{"metric_name":"speed","lower_is_better":)"
      R"(false,"description":"","data":[{{"dataset_name":"d","value":{}}}]}}]}})",
      value);
}

class MeasureTest : public ::testing::Test {
 protected:
  MeasureTest() {
    node_ = TwoNodes().tree.nodes[0];
    rig_.Write("nodes/n/workspace/own.npy", "no header");
    driver_.services = rig_.services;
    rig_.caller.Reply("parse_metrics", "Read it.\n```python\nprint(1)\n```");
    rig_.caller.Reply("metrics_extraction", MetricsOf(7));
    rig_.script->On("python3 parse_metrics.py").Says("speed 7\n");
  }

  std::string Workspace() const { return rig_.folder() + "/nodes/n/workspace"; }
  double Measured() {
    const auto measured = Measure(
        driver_, {.node = &node_, .workspace = Workspace(), .worker = "worker-0"}, CancelToken());
    EXPECT_THAT(measured, Succeeds());
    if (!measured || !measured->metric) return 0;
    return measured->metric->front().values.front().value;
  }

  ResearchRig rig_;
  Driver driver_;
  Node node_;
};

TEST_F(MeasureTest, WhatTheProgramMeasuredIsReadWithoutAModel) {  // RSP-29
  rig_.Write("nodes/n/workspace/working/metrics.json", MetricsOf(5));
  EXPECT_EQ(Measured(), 5);
  EXPECT_TRUE(rig_.caller.requests.empty());
}

TEST_F(MeasureTest, WithoutItAScriptReadsTheArraysAndAModelNamesWhatItPrinted) {  // RSP-29
  EXPECT_EQ(Measured(), 7);
  const OwnSection* output = rig_.caller.Section("metrics_extraction", "execution_output");
  ASSERT_NE(output, nullptr);
  EXPECT_EQ(ToJson(output->value), "\"speed 7\\n\"");
}

TEST_F(MeasureTest, AFolderOfResultsThatLeadsOutIsNeitherReadNorWrittenTo) {  // RSP-23, RSP-29
  rig_.Write("outside/metrics.json", MetricsOf(9));
  rig_.Write("outside/theirs.npy", "no header");
  fs::create_directory_symlink(rig_.folder() + "/outside", Workspace() + "/working");
  EXPECT_EQ(Measured(), 7);
  const OwnSection* arrays = rig_.caller.Section("parse_metrics", "npy");
  ASSERT_NE(arrays, nullptr);
  EXPECT_THAT(ToJson(arrays->value), AllOf(HasSubstr("own.npy"), Not(HasSubstr("theirs.npy"))));
  EXPECT_EQ(std::distance(fs::directory_iterator(rig_.folder() + "/outside"), {}), 2);
}

TEST_F(MeasureTest, AMetricsFileThatCannotBeReadIsTheReason) {  // FLT-69
  std::string text = MetricsOf(5);
  rig_.Write("nodes/n/workspace/working/metrics.json", text.replace(text.find(":5}"), 3, ":true}"));
  fs::remove(Workspace() + "/own.npy");
  const auto measured = Measure(
      driver_, {.node = &node_, .workspace = Workspace(), .worker = "worker-0"}, CancelToken());
  ASSERT_THAT(measured, Succeeds());
  EXPECT_THAT(measured->failure, HasSubstr("working/metrics.json is not read: metric_names[0]"));
  EXPECT_THAT(measured->failure, HasSubstr("value must be a number"));
}

TEST_F(MeasureTest, AFolderInPlaceOfTheScriptDoesNotEndTheRun) {  // RSP-23
  rig_.Write("nodes/n/workspace/parse_metrics.py/file", "x");
  EXPECT_EQ(Measured(), 7);
}

}  // namespace
}  // namespace dossier::research
