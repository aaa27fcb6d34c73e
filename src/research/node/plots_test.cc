#include "research/node/plots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "research/exec/exec_local.h"
#include "research/node/python_script.h"
#include "testing/research_rig_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kScript = "One curve.\n```python\nprint(1)\n```\n";
constexpr std::string_view kAnalysis =
    R"({"plot_analyses":[{"analysis":"It falls."}],"valid_plots_received":true,
        "vlm_feedback_summary":"Good."})";

class PlotsTest : public ::testing::Test {
 protected:
  PlotsTest() {
    node_ = TwoNodes().tree.nodes[0];
    node_.plots.clear();
  }
  PlotOutcome Make() {
    auto outcome = MakeNodePlots(
        rig_.services,
        {.node = &node_, .worker = "worker-0", .workspace = rig_.folder() + "/nodes/n/workspace"},
        {});
    EXPECT_THAT(outcome, Succeeds());
    return outcome ? *outcome : PlotOutcome();
  }
  void Reply(std::string_view label, std::string_view reply) {
    rig_.caller.Reply(label, std::string(reply));
  }

  ResearchRig rig_;
  Node node_;
};

TEST_F(PlotsTest, WhatTheScriptDrewIsLookedAtAndKept) {  // RSP-38
  rig_.script->On("python3 plot.py").Writes("working/loss.png", TinyPng(3000));
  Reply("plotting_code", kScript);
  Reply("vlm_analysis", kAnalysis);
  Reply("datasets_tested", "REASONING: both\nSUCCESSFULLY_TESTED_DATASETS: small, large");
  const PlotOutcome outcome = Make();
  EXPECT_EQ(outcome.state, PlotOutcome::Plots::kValid);
  ASSERT_THAT(outcome.plots, ElementsAre("nodes/" + node_.id + "/plots/loss.png"));
  EXPECT_EQ(rig_.Read(outcome.plots[0]), TinyPng(3000));
  EXPECT_EQ(outcome.code, "print(1)\n");
  EXPECT_THAT(outcome.plan, HasSubstr("One curve."));
  EXPECT_THAT(outcome.analyses, ElementsAre("It falls."));
  EXPECT_THAT(outcome.datasets, ElementsAre("small", "large"));
  const OwnSection* images = rig_.caller.Section("vlm_analysis", "images");
  ASSERT_NE(images, nullptr);
  ASSERT_EQ(images->parts.size(), 2U);
  EXPECT_EQ(images->parts[1].type, assembly::Block::Type::kImage);
  EXPECT_EQ(images->parts[1].text, Base64(*FitPng(TinyPng(3000), kMaxImageSide)));
  Node kept;
  KeepPlots(outcome, &kept);
  EXPECT_FALSE(kept.is_buggy_plots);
  EXPECT_EQ(kept.plots, outcome.plots);
}

TEST_F(PlotsTest, AScriptThatFailsIsToldWhyAndThriceIsTheEnd) {  // RSP-38
  rig_.script->On("python3 plot.py").Fails(1, "ValueError: no data\n");
  for (int i = 0; i < 4; ++i) Reply("plotting_code", kScript);
  const PlotOutcome outcome = Make();
  EXPECT_EQ(outcome.state, PlotOutcome::Plots::kBuggy);
  EXPECT_THAT(outcome.plots, IsEmpty());
  ASSERT_EQ(rig_.caller.refusals.size(), 3U);
  EXPECT_THAT(rig_.caller.refusals[0], HasSubstr("ValueError: no data"));
  EXPECT_THAT(outcome.warnings, ElementsAre(HasSubstr("plotting_code")));
}

TEST_F(PlotsTest, AnImageThatDoesNotDecodeDoesNotCount) {  // RSP-38
  rig_.script->On("python3 plot.py").Writes("working/loss.png", "\x89PNG\r\n\x1a\nbroken");
  Reply("plotting_code", kScript);
  const PlotOutcome outcome = Make();
  EXPECT_EQ(outcome.state, PlotOutcome::Plots::kBuggy);
  EXPECT_THAT(rig_.caller.refusals, ElementsAre(HasSubstr("no PNG file that decodes")));
}

TEST_F(PlotsTest, AnImageWithALongPathGetsAShortName) {  // RSP-38
  const std::string deep(200, 'd');
  rig_.script->On("python3 plot.py").Writes(deep + "/" + deep + "/loss.png", TinyPng());
  Reply("plotting_code", kScript);
  Reply("vlm_analysis", kAnalysis);
  Reply("datasets_tested", "REASONING: x\nSUCCESSFULLY_TESTED_DATASETS: small");
  const PlotOutcome outcome = Make();
  EXPECT_EQ(outcome.state, PlotOutcome::Plots::kValid);
  ASSERT_EQ(outcome.plots.size(), 1U);
  EXPECT_THAT(outcome.plots[0], ::testing::EndsWith("_loss.png"));
}

TEST_F(PlotsTest, WithoutAVisionModelOneImageThatDecodesIsValid) {  // RSP-38
  rig_.services.vision = Services::Vision::kNo;
  rig_.script->On("python3 plot.py").Writes("working/loss.png", TinyPng());
  Reply("plotting_code", kScript);
  const PlotOutcome outcome = Make();
  EXPECT_EQ(outcome.state, PlotOutcome::Plots::kValid);
  EXPECT_EQ(rig_.caller.Count("vlm_analysis"), 0U);
  EXPECT_THAT(outcome.warnings, ElementsAre(HasSubstr("takes no images")));
}

TEST_F(PlotsTest, PlotsThatTheModelCallsInvalidAreBuggy) {  // RSP-38
  rig_.script->On("python3 plot.py").Writes("working/loss.png", TinyPng());
  Reply("plotting_code", kScript);
  Reply("vlm_analysis",
        R"({"plot_analyses":[],"valid_plots_received":false,"vlm_feedback_summary":"Empty."})");
  const PlotOutcome outcome = Make();
  EXPECT_EQ(outcome.state, PlotOutcome::Plots::kBuggy);
  EXPECT_EQ(outcome.vlm_feedback_summary, "Empty.");
  EXPECT_EQ(rig_.caller.Count("datasets_tested"), 0U);
}

TEST_F(PlotsTest, OfMoreThanTenPlotsAModelSelectsAndUnknownPathsAreDropped) {  // RSP-38
  for (const bool unknown : {false, true}) {
    ResearchRig& rig = rig_;
    if (!unknown) {
      ScriptedRule& rule = rig.script->On("python3 plot.py");
      for (int i = 0; i < 12; ++i) rule.Writes(fmt::format("working/p{:02}.png", i), TinyPng());
    }
    Reply("plotting_code", kScript);
    const std::string named = "working/p11.png";  // the file's name counts
    Reply("plot_selection",
          fmt::format(R"({{"selected_plots":["{}","nowhere.png"]}})", unknown ? "no" : named));
    Reply("vlm_analysis", kAnalysis);
    const PlotOutcome outcome = Make();
    const std::string warning = "plot_selection: no plot was chosen, the first ones are shown";
    EXPECT_EQ(std::ranges::count(outcome.warnings, warning), unknown ? 1 : 0);  // RSP-6
    const OwnSection* images = rig.caller.Section("vlm_analysis", "images");
    ASSERT_NE(images, nullptr);
    EXPECT_EQ(images->parts.size(), unknown ? 20U : 2U);
    EXPECT_EQ(images->parts[0].text, unknown ? "p00.png:" : "p11.png:");
  }
}

TEST_F(PlotsTest, AScriptThatPythonCannotReadIsRepairedOnce) {  // 4.2: plotting_code
  int runs = 0;
  rig_.script->On("python3 plot.py")
      .Does([&](const ExecCommand&, const std::string& workspace,
                const CancelToken&) -> Result<ExecResult> {
        ++runs;
        const std::string code = *ReadFile(workspace + "/plot.py");
        if (code.starts_with(">>>")) {
          return ExecResult{.status = 1, .err = "SyntaxError: invalid syntax\n"};
        }
        static_cast<void>(MakeFolders(workspace + "/working"));
        static_cast<void>(WriteFileAtomic(workspace + "/working/a.png", TinyPng()));
        return ExecResult{.status = 0};
      });
  rig_.services.vision = Services::Vision::kNo;
  Reply("plotting_code", "```python\n>>> print(1)\n1\n```");
  const PlotOutcome outcome = Make();
  EXPECT_EQ(outcome.state, PlotOutcome::Plots::kValid);
  EXPECT_EQ(runs, 2);
  EXPECT_THAT(outcome.code, HasSubstr("print(1)"));
  EXPECT_THAT(outcome.warnings, ::testing::Contains("payload_repaired: prompts removed"));
}

TEST_F(PlotsTest, ASeedPlotReadsTheDataOfAllReruns) {  // RSP-36, RSP-38
  rig_.script->On("python3 seed_plot.py").Writes("working/seeds.png", TinyPng());
  Reply("seed_plot", kScript);
  const Node best = node_;
  Node rerun = node_;
  rerun.id = std::string(32, 'c');
  rerun.workspace_path = "nodes/c/workspace";
  const auto outcome =
      MakeSeedPlot(rig_.services,
                   {.best = &best, .reruns = {&rerun}, .node_id = "agg", .worker = "worker-0"}, {});
  ASSERT_THAT(outcome, Succeeds());
  EXPECT_THAT(outcome->plots, ElementsAre("nodes/agg/plots/seeds.png"));
  const OwnSection* paths = rig_.caller.Section("seed_plot", "data_paths");
  ASSERT_NE(paths, nullptr);
  EXPECT_EQ(ToJson(paths->value), R"(["nodes/c/workspace/working/x.npy"])");
  EXPECT_TRUE(rig_.Has("nodes/agg/workspace/nodes/agg"));  // through a link to the run's nodes
}

// Records how it is started.
class RecordingBackend final : public ExecBackend {
 public:
  explicit RecordingBackend(SandboxSpec* spec) : spec_(spec) {}
  Status Start(const SandboxSpec& spec) override {
    *spec_ = spec;
    return {};
  }
  Result<ExecResult> Run(const ExecCommand&, const CancelToken&) override {
    return ExecResult{.status = 0};
  }
  Result<ImageRef> Snapshot(std::string_view) override { return ImageRef(); }
  SandboxFacts Facts() const override { return {}; }
  void Stop() noexcept override {}

 private:
  SandboxSpec* spec_;
};

TEST_F(PlotsTest, ScriptsHaveNoNetworkWhateverTheConfigurationSays) {  // RSP-38
  SandboxSpec spec;
  rig_.config.exec.network = NetworkPolicy::kAlways;
  rig_.services.backend = [&](std::string_view) -> Result<std::unique_ptr<ExecBackend>> {
    return std::make_unique<RecordingBackend>(&spec);
  };
  ASSERT_THAT(
      RunScript(rig_.services, {.worker = "w", .workspace = rig_.folder() + "/w"}, "p.py", "1", {}),
      Succeeds());
  EXPECT_EQ(spec.network, NetworkPolicy::kNever);
  EXPECT_THAT(spec.environment, ::testing::Contains("MPLBACKEND=Agg"));
}

// With the real programs, if Python's numpy and matplotlib and the sandbox are available.
TEST_F(PlotsTest, MatplotlibDrawsInTheSandboxOnAMachineThatHasIt) {  // RSP-38, RSP-T26
  rig_.services.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
  rig_.services.backend = [](std::string_view) { return MakeLocalBackend({}); };
  rig_.services.vision = Services::Vision::kNo;
  const auto there =
      RunScript(rig_.services, {.worker = "w", .workspace = rig_.folder() + "/nodes/n/workspace"},
                "probe.py", "import numpy, matplotlib", {});
  if (!there) GTEST_SKIP() << "the sandbox is not available here: " << there.error().message;
  if (!there->failure.empty()) GTEST_FAIL() << "scripts/setup --test installs matplotlib";
  Reply("plotting_code", R"(A line.
```python
import socket
import numpy as np
import matplotlib.pyplot as plt
values = np.arange(10) ** 2
plt.plot(values)
try:
    socket.create_connection(("192.0.2.1", 80), timeout=0.2)
    plt.savefig("working/network.png")
except OSError:
    pass
import os
os.makedirs("working", exist_ok=True)
plt.savefig("working/squares.png", dpi=300)
```
)");
  const PlotOutcome outcome = Make();
  EXPECT_EQ(outcome.state, PlotOutcome::Plots::kValid);
  ASSERT_THAT(outcome.plots, ElementsAre("nodes/" + node_.id + "/plots/squares.png"));
  const auto image = DecodePng(rig_.Read(outcome.plots[0]));
  ASSERT_THAT(image, Succeeds());
  EXPECT_EQ(image->width, 1920U);
}

}  // namespace
}  // namespace dossier::research
