#include "research/paper/aggregation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "testing/research_rig_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Script(std::string_view body) { return fmt::format("```python\n{}\n```", body); }

class AggregationTest : public ::testing::Test {
 protected:
  Aggregation Make() {
    auto made = AggregatePlots(rig_.services, rig_.results, {});
    EXPECT_THAT(made, Succeeds());
    return made ? *made : Aggregation();
  }
  ResearchRig rig_;
};

TEST_F(AggregationTest, TheScriptIsMadeBetterUntilTheModelIsDone) {  // RSP-41
  rig_.script->On("python3 aggregate.py").Writes("figures/a.png", TinyPng()).Says("drew a\n");
  rig_.caller.Reply("plot_aggregation", Script("print('one')"));
  rig_.caller.Reply("plot_aggregation", Script("print('two')"));
  rig_.caller.Reply("plot_aggregation", "I am done");
  const Aggregation made = Make();
  EXPECT_THAT(made.figures, ElementsAre("a.png"));
  EXPECT_EQ(rig_.Read("figures/a.png"), TinyPng());
  EXPECT_EQ(rig_.Read("auto_plot_aggregator.py"), "print('two')\n");
  ASSERT_EQ(rig_.caller.requests.size(), 3U);
  const OwnSection* output = rig_.caller.Section("plot_aggregation", "script_output");
  ASSERT_NE(output, nullptr);
  EXPECT_THAT(ToJson(output->value), HasSubstr("drew a"));
  EXPECT_EQ(rig_.caller.requests[0].variables.at("max_figures"), "12");
}

TEST_F(AggregationTest, TheScriptIsWrittenFromTheBestProgram) {  // FLT-61
  rig_.results.stages = {TwoNodes()};
  rig_.results.best_node = rig_.results.stages[0].best_node;
  rig_.caller.Reply("plot_aggregation", "I am done");
  Make();
  const OwnSection* code = rig_.caller.Section("plot_aggregation", "best_code");
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(ToJson(code->value), R"("int main() {}")");
}

TEST_F(AggregationTest, NoMoreFiguresAreKeptThanTheConfigurationAllows) {  // RSP-41
  rig_.config.max_figures = 2;
  rig_.script->On("python3 aggregate.py")
      .Writes("figures/a.png", TinyPng())
      .Writes("figures/b.png", TinyPng())
      .Writes("figures/c.png", TinyPng());
  rig_.caller.Reply("plot_aggregation", Script("1"));
  rig_.caller.Reply("plot_aggregation", "I am done");
  const Aggregation made = Make();
  EXPECT_THAT(made.figures, ElementsAre("a.png", "b.png"));
  EXPECT_FALSE(rig_.Has("figures/c.png"));
  EXPECT_THAT(made.warnings, Contains(HasSubstr("3 figures were drawn")));
}

TEST_F(AggregationTest, AVersionThatDrawsNothingTakesNoFigureAway) {  // RSP-41
  rig_.script->On("python3 aggregate.py").Writes("figures/a.png", TinyPng()).Times(1);
  rig_.script->On("python3 aggregate.py").Fails(1, "KeyError: 'x'\n");
  rig_.caller.Reply("plot_aggregation", Script("good"));
  rig_.caller.Reply("plot_aggregation", Script("worse"));
  const Aggregation made = Make();
  EXPECT_THAT(made.figures, ElementsAre("a.png"));
  EXPECT_EQ(made.script, "good\n");
}

TEST_F(AggregationTest, AFolderOfFiguresThatIsALinkIsNotRead) {  // RSP-41
  rig_.Write("elsewhere/secret.png", TinyPng());
  rig_.script->On("python3 aggregate.py")
      .Does([&](const ExecCommand&, const std::string& workspace,
                const CancelToken&) -> Result<ExecResult> {
        std::filesystem::remove(workspace + "/figures");
        std::filesystem::create_symlink(rig_.folder() + "/elsewhere", workspace + "/figures");
        return ExecResult{.status = 0};
      });
  rig_.caller.Reply("plot_aggregation", Script("1"));
  const Aggregation made = Make();
  EXPECT_THAT(made.figures, ElementsAre());
  EXPECT_THAT(made.warnings, Contains(HasSubstr("is a link")));
}

TEST_F(AggregationTest, DoneWithoutAFigureIsNoEnd) {  // 4.2: plot_aggregation
  for (int i = 0; i < 10; ++i) rig_.caller.Reply("plot_aggregation", "I am done");
  const Aggregation made = Make();
  EXPECT_EQ(rig_.caller.requests.size(), 1U + kAggregationReflections);
  EXPECT_THAT(made.warnings, Contains("no figure was drawn for the paper"));
}

TEST_F(AggregationTest, TheSameScriptTwiceIsTheEnd) {  // 4.2: plot_aggregation
  rig_.script->On("python3 aggregate.py").Writes("figures/a.png", TinyPng());
  for (int i = 0; i < 4; ++i) rig_.caller.Reply("plot_aggregation", Script("same"));
  Make();
  EXPECT_EQ(rig_.caller.requests.size(), 2U);
}

}  // namespace
}  // namespace dossier::research
