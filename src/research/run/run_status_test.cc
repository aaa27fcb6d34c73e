#include "research/run/run_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/files/file.h"
#include "research/run/run_record.h"
#include "research/search/stage_rules.h"
#include "research/search/tree_page.h"
#include "testing/cpu_time.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::CpuSeconds;
using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kStage = "1_initial_implementation_1_preliminary";

// RSP-T23: a run in any state, as read from its journal.
class RunStatusTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(
        WriteFileAtomic(folder() + "/run.json", RunRecordText({.run = "r", .title = "Sorting"})));
    log_ = *ResearchLog::Start(folder(), {{"question", "Sorting"}}, SystemClock(), {});
    ASSERT_TRUE(log_->Add("round.selected", std::string(kStage) + "/0",
                          {{"stage", kStage}, {"round", 0}, {"picks", JsonArray()}}));
  }

  void Create(const Node& node) {
    ASSERT_TRUE(log_->Add("node.created", node.id,
                          {{"node", node.id},
                           {"stage", node.stage},
                           {"kind", NodeKindName(node.kind)},
                           {"parent", node.parent_id},
                           {"step", node.step}}));
  }
  void Finish(const Node& node) {
    Create(node);
    ASSERT_TRUE(log_->Add("node.finished", node.id, {{"node", NodeJson(node)}}));
  }

  static Node NodeOf(std::string id, std::int64_t step, std::optional<double> speed) {
    Node node{.id = std::move(id), .step = step, .stage = std::string(kStage)};
    node.is_buggy = !speed;
    node.exec_time = 41.2;
    if (speed) node.metric = Metric{{.name = "speedup", .values = {{"large", *speed}}}};
    if (!speed) node.exc_type = "CompilationError";
    // A text too long for an event is stored elsewhere.
    node.code = std::string(10'000, 'c');
    return node;
  }

  // Two programs and a rerun are done, and a fourth is in progress.
  void FillTree() {
    Finish(NodeOf("aaaaaaaa1111", 0, std::nullopt));
    Node improve = NodeOf("bbbbbbbb2222", 1, 3.12);
    improve.parent_id = "aaaaaaaa1111";
    improve.kind = NodeKind::kDebug;
    Finish(improve);
    Node seed = NodeOf("cccccccc3333", 2, 3.5);
    seed.parent_id = "bbbbbbbb2222";
    seed.kind = NodeKind::kSeed;
    seed.is_seed_node = true;
    Finish(seed);
    Node running = NodeOf("dddddddd4444", 3, 1);
    running.parent_id = "bbbbbbbb2222";
    running.kind = NodeKind::kImprove;
    Create(running);
  }

  RunHistory History() const {
    const auto history = ReadRunHistory(folder());
    EXPECT_TRUE(history) << history.error().message;
    return history ? *history : RunHistory{};
  }
  ResearchProgress Status() const { return StatusOf(History(), *SystemClock()); }

  const std::string& folder() const { return temp_.path(); }

  TempFolder temp_ = *TempFolder::Make("status");
  std::unique_ptr<ResearchLog> log_;
};

TEST_F(RunStatusTest, ARunThatIsWorkedOnShowsWhatItDoes) {
  FillTree();
  const auto lock = RunLock::Take(folder(), *SystemClock());
  const ResearchProgress status = Status();
  EXPECT_EQ(status.state, ResearchState::kRunning);
  EXPECT_EQ(status.nodes.done, 2);  // without the rerun
  EXPECT_EQ(status.nodes.good, 1);
  EXPECT_EQ(status.nodes.buggy, 1);
  EXPECT_EQ(status.running, 1);
  EXPECT_EQ(status.best_id, "bbbbbbbb2222");
  EXPECT_THAT(StatusText(status), HasSubstr("best     debug 1, bbbbbbbb  speedup↑[large:3.12]"));
  EXPECT_THAT(StatusText(status), HasSubstr("2 done, 1 good, 1 buggy, 1 running"));
}

RunHistory HistoryWith(std::vector<Node> nodes) {
  RunHistory history;
  history.results.stages.push_back({.stage = 1, .name = std::string(kStage)});
  history.results.stages.back().tree.nodes = std::move(nodes);
  SteerNodes({}, &history.results, {});
  return history;
}

std::vector<Node> Chain(int length) {
  std::vector<Node> nodes;
  for (int i = 0; i < length; ++i) {
    Node node{.id = fmt::format("{:032x}", i), .step = i, .stage = std::string(kStage)};
    if (i > 0) node.parent_id = nodes.back().id;
    if (i > 0) node.inherited_from_node_id = nodes.back().id;
    if (i > 0) nodes.back().children.push_back(node.id);
    if (i > 100) node.inherited_from_node_id.clear();
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// A search over all nodes for each of them would take 16 times as long for four times as many;
// recursion over the chain would overflow the stack.
TEST(TreeTextTest, AHundredThousandNodesInAChainAreShownInLinearTime) {  // FLT-90
  constexpr int kNodes = 100'000;
  std::string text;
  const auto seconds = [&](int length) {
    std::vector<Node> nodes = Chain(length);
    return CpuSeconds([&] { text = TreeText(HistoryWith(std::move(nodes)), 0); });
  };
  const double quarter = seconds(kNodes / 4);
  EXPECT_LT(seconds(kNodes), 10 * quarter);
  EXPECT_EQ(std::ranges::count(text, '\n'), kNodes + 1);
  EXPECT_LT(text.size(), kNodes * 200u);
}

// A journal edited by hand: parents and originals form a cycle, and an id occurs twice per level,
// so that its descendants would be shown twice for each.
TEST(TreeTextTest, EachNodeOfADamagedTreeIsShownOnce) {
  std::vector<Node> ring, twice;
  for (int i = 0; i < 50; ++i) {
    const std::string next = std::to_string((i + 1) % 50);
    ring.push_back({.id = std::to_string(i),
                    .parent_id = next,
                    .children = {std::to_string((i + 49) % 50)},
                    .stage = std::string(kStage),
                    .inherited_from_node_id = next});
    for (int copy = 0; copy < 2; ++copy) {
      twice.push_back({.id = std::to_string(i),
                       .parent_id = i > 0 ? std::to_string(i - 1) : "",
                       .stage = std::string(kStage)});
      if (copy == 0) twice.back().children = {next, next};
    }
  }
  EXPECT_EQ(std::ranges::count(TreeText(HistoryWith(std::move(ring)), 0), '\n'), 51);
  const std::string text = TreeText(HistoryWith(std::move(twice)), 0);
  EXPECT_LE(std::ranges::count(text, '\n'), 101);
}

TEST_F(RunStatusTest, WhatModelsAndProgramsWroteIsNoEscapeSequence) {  // FLT-72
  Node node = NodeOf("aaaaaaaa1111", 0, std::nullopt);
  node.exc_type.clear();
  node.failure = "missing \x1b]0;owned\x07 reply";
  node.hyperparam_name = "size\n* 99999999 draft  speedup";
  Finish(node);
  ASSERT_TRUE(
      log_->Add("run.finished", "", {{"status", "failed"}, {"reason", "it \x1b[2J ended"}}));
  ResearchProgress status = Status();
  status.title = "Sort\x1b[31ming";
  for (const std::string& text : {StatusText(status), TreeText(History(), 0)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find('\x07'), std::string::npos) << text;
  }
  EXPECT_THAT(StatusText(status), HasSubstr("it ^[[2J ended"));
  EXPECT_THAT(TreeText(History(), 0), HasSubstr("draft 1 size * 99999999 draft"));
}

// FLT-71: a value that is not a number, and a program without a valid plot, count as buggy in every
// view, and reruns count in none.
TEST_F(RunStatusTest, StatusReportAndPageCountTheSame) {
  FillTree();
  Finish(NodeOf("eeeeeeee5555", 4, std::numeric_limits<double>::quiet_NaN()));
  Node plotless = NodeOf("ffffffff6666", 5, 1.0);
  plotless.is_buggy_plots = true;
  Finish(plotless);
  Node rerun = NodeOf("abababab7777", 6, std::nullopt);
  rerun.is_seed_node = true;
  Finish(rerun);
  const RunHistory history = History();
  EXPECT_THAT(StatusText(Status()), HasSubstr("nodes    4 done, 1 good, 3 buggy, 0 running"));
  EXPECT_THAT(PlainReport(history.results, {}), HasSubstr("Nodes: 4 done, 1 good, 3 buggy."));
  EXPECT_THAT(PlainReport(history.results, {}), HasSubstr("CompilationError 1"));
  EXPECT_THAT(TreePage("x", ReadPageStages(history, 0)),
              HasSubstr("nodes: 4 done, 1 good, 3 buggy, 1 running;"));
}

TEST_F(RunStatusTest, EveryEndSaysWhatToDo) {  // FLT-71
  FillTree();
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"done", "research report"},
      {"failed", "--retry-failed` asks for it again"},
      {"limited", "with a higher limit goes on"},
      {"stopped", "goes on"}};
  for (const auto& [end, next] : kCases) {
    ASSERT_TRUE(log_->Add("run.finished", "", {{"status", end}, {"reason", ""}}));
    EXPECT_THAT(StatusText(Status()), HasSubstr(std::string(next))) << end;
    EXPECT_THAT(NextStepOf(Status()), HasSubstr(folder())) << end;
  }
}

TEST_F(RunStatusTest, AKilledRunSaysHowToGoOn) {
  FillTree();
  const ResearchProgress status = Status();
  EXPECT_EQ(status.state, ResearchState::kKilled);
  EXPECT_EQ(status.running, 0);
  EXPECT_THAT(StatusText(status), HasSubstr("dossier research resume"));
}

TEST_F(RunStatusTest, AnEndIsShownUntilAResume) {
  const struct {
    RunEnd end;
    ResearchState state;
  } kCases[] = {{RunEnd::kFailed, ResearchState::kFailed},
                {RunEnd::kLimited, ResearchState::kLimited},
                {RunEnd::kStopped, ResearchState::kStopped},
                {RunEnd::kDone, ResearchState::kDone}};
  for (const auto& example : kCases) {
    ASSERT_TRUE(
        log_->Add("run.finished", "", {{"status", RunEndName(example.end)}, {"reason", "why"}}));
    EXPECT_EQ(Status().state, example.state);
    EXPECT_EQ(Status().reason, "why");
  }
  ASSERT_TRUE(log_->Add("run.resumed", "", {}));
  ASSERT_TRUE(log_->Add("run.broken", "", {{"reason", "the provider failed"}}));
  EXPECT_EQ(Status().state, ResearchState::kStopped);  // nobody killed it
  EXPECT_EQ(Status().reason, "the provider failed");
  ASSERT_TRUE(log_->Add("run.resumed", "", {}));
  EXPECT_EQ(Status().state, ResearchState::kKilled);
  EXPECT_EQ(Status().reason, "");
}

TEST_F(RunStatusTest, AWaitIsShownWithWhatIsLeftOfIt) {  // RSP-46
  const auto lock = RunLock::Take(folder(), *SystemClock());
  ASSERT_TRUE(MakeFolders(folder() + "/logs"));
  const auto tell = [&](std::chrono::seconds ago) {
    ASSERT_TRUE(
        WriteFileAtomic(folder() + "/" + std::string(run_files::kWaiting),
                        ToJson(JsonObject{{"reason", "rate limit"},
                                          {"seconds", 600},
                                          {"since", FormatTime(SystemClock()->WallNow() - ago)}})));
  };
  tell(std::chrono::seconds(60));
  const ResearchProgress status = Status();
  EXPECT_EQ(status.state, ResearchState::kWaiting);
  ASSERT_TRUE(status.waiting);
  EXPECT_EQ(status.waiting->reason, "rate limit");
  EXPECT_GT(status.waiting->seconds, 0);
  EXPECT_LE(status.waiting->seconds, 540);
  tell(std::chrono::seconds(700));
  EXPECT_EQ(Status().state, ResearchState::kRunning);
}

TEST_F(RunStatusTest, TheJsonHasTheFieldsOfItsSchema) {  // 5.1
  FillTree();
  const JsonObject json = StatusJson(Status());
  EXPECT_EQ(json.at("schema"), "dossier.research.status/1");
  for (const std::string_view key :
       {"run", "state", "stage", "round", "nodes", "best", "spend", "waiting"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  for (const std::string_view key : {"done", "good", "buggy", "running"}) {
    EXPECT_TRUE(json.at("nodes").as_object().contains(key)) << key;
  }
  for (const std::string_view key : {"usd", "tokens", "seconds"}) {
    EXPECT_TRUE(json.at("spend").as_object().contains(key)) << key;
  }
  EXPECT_EQ(json.at("best").as_object().at("metric"), "speedup↑[large:3.12]");
  EXPECT_TRUE(json.at("waiting").is_null());
}

TEST_F(RunStatusTest, TheTreeIsIndentedByDepthAndMarked) {
  FillTree();
  EXPECT_EQ(TreeText(History(), 0), std::string(kStage) +
                                        "\n"
                                        "! aaaaaaaa draft 1  CompilationError  41.2 s\n"
                                        "  * bbbbbbbb debug 1  speedup↑[large:3.12]  41.2 s\n"
                                        "    s cccccccc seed 1  speedup↑[large:3.5]  41.2 s\n"
                                        "    ~ dddddddd improve 1\n");
  EXPECT_EQ(TreeText(History(), 2), "");
  const JsonObject json = TreeJson(History(), 1);
  EXPECT_EQ(json.at("schema"), "dossier.research.tree/1");
  const JsonArray& nodes = json.at("stages").as_array().at(0).as_object().at("nodes").as_array();
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_EQ(nodes[0].as_object().at("state"), "buggy");
  EXPECT_EQ(nodes[1].as_object().at("best"), true);
  EXPECT_EQ(nodes[3].as_object().at("state"), "running");
}

TEST_F(RunStatusTest, AReportIsMadeOfAKilledRunToo) {
  FillTree();
  const RunHistory history = History();
  const std::string report = PlainReport(history.results, {.end = RunEnd::kStopped});
  EXPECT_THAT(report, HasSubstr("bbbbbbbb"));
  EXPECT_THAT(report, HasSubstr("CompilationError"));
}

TEST_F(RunStatusTest, AnEventIsALineForAPerson) {
  Node node = NodeOf("bbbbbbbb2222", 1, 3.12);
  JsonObject json = NodeJson(node);
  json["code"] = JsonObject{{"sha256", "…"}};  // the form of a long text in an event
  EXPECT_EQ(EventLine({.type = "node.finished", .data = {{"node", json}}}),
            "  bbbbbbbb draft  speedup↑[large:3.12]  41.2 s");
  EXPECT_EQ(EventLine({.type = "warning", .data = {{"text", "no plot"}}}), "warning: no plot");
  EXPECT_EQ(EventLine({.type = "warning", .data = {{"code", "call_failed"}, {"text", "x"}}}), "");
  EXPECT_EQ(EventLine({.type = "stage.ended", .data = {{"stage", "1_a"}, {"best", ""}}}),
            "1_a ended; no program is good");
  EXPECT_EQ(EventLine({.type = "call.sent"}), "");
  EXPECT_EQ(EventLine({.type = "node.finished"}), "");
}

TEST_F(RunStatusTest, AFolderWithoutARunIsNotFound) {
  const TempFolder empty = *TempFolder::Make("empty");
  EXPECT_THAT(ReadRunHistory(empty.path()), FailsWith(ErrorCode::kNotFound, ""));
}

}  // namespace
}  // namespace dossier::research
