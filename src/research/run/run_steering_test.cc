#include "research/run/run_steering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "research/run/run_status.h"
#include "testing/result_matchers.h"
#include "testing/run_rig_for_test.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Result<std::string> Steer(const RunRig& rig, SteerKind kind, const std::string& node,
                          const std::string& text = "") {
  DOSSIER_ASSIGN_OR_RETURN(const Steered done,
                           SteerRun(rig.folder(), {kind, node, text}, *SystemClock()));
  return done.line;
}

// Cancels the run when `nodes` nodes have ended.
void RunUntil(RunRig& rig, int nodes) {
  CancelSource source;
  rig.watch = [&, ended = 0](const store::Event& event) mutable {
    if (event.type == "node.finished" && ++ended == nodes) source.Cancel("enough");
  };
  ASSERT_FALSE(research::Run(rig.Order(RunOrder::Mode::kStart), source.token()));
  rig.watch = {};
}

std::string PicksOf(const RunRig& rig, std::string_view stage, std::int64_t round) {
  for (const store::Event& event : rig.Events()) {
    if (event.type != "round.selected" || !TextAt(event.data, "stage").starts_with(stage)) continue;
    if (FindInt(Json(event.data), "round") == round) return ToJson(*Find(event.data, "picks"));
  }
  return "";
}

// FLT-73: an active run takes an order before its next round, and its prompts contain a hint.
TEST(RunSteeringTest, ALiveRunTakesOrdersAtItsNextRound) {
  RunRig rig;
  rig.config.stages[0] = StageCap{4};
  std::string pinned;
  rig.watch = [&](const store::Event& event) {
    if (event.type != "node.finished" || !pinned.empty()) return;
    // The first draft has ended, the second is in progress: the debugging round is next.
    pinned = TextAt(*Find(event.data, "node"), "id");
    EXPECT_THAT(*Steer(rig, SteerKind::kPin, "draft 1"),
                HasSubstr("draft 1 is pinned from the next round on"));
    EXPECT_TRUE(Steer(rig, SteerKind::kHint, "draft 1", "index from zero"));
    const ResearchProgress status = StatusOf(*ReadRunHistory(rig.folder()), *SystemClock());
    EXPECT_THAT(StatusText(status), HasSubstr("steered  draft 1: pinned (from the next round on)"));
  };
  ASSERT_TRUE(rig.Start());
  EXPECT_EQ(PicksOf(rig, "1_", 1),
            fmt::format(R"([{{"slot":0,"kind":"debug","parent":"{}"}}])", pinned));
  ASSERT_FALSE(rig.model().Calls("debug").empty());
  EXPECT_THAT(rig.model().Calls("debug").front().prompt, HasSubstr("index from zero"));
  const ResearchProgress status = StatusOf(*ReadRunHistory(rig.folder()), *SystemClock());
  EXPECT_THAT(StatusText(status), HasSubstr("steered  draft 1: pinned\n"));
  EXPECT_THAT(StatusText(status), HasSubstr("steered  draft 1: hint: index from zero\n"));
}

TEST(RunSteeringTest, AnOrderForAFailedRunSaysHowThatGoesOn) {  // FLT-71
  RunRig rig;
  rig.replies["debug"] = "no program";
  rig.config.stages[0] = StageCap{2};
  const auto outcome = rig.Start();
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->end, RunEnd::kFailed);
  EXPECT_THAT(*Steer(rig, SteerKind::kPin, "draft 1"), HasSubstr("--retry-failed` makes more"));
}

TEST(RunSteeringTest, WithoutAHintPromptsSayNothingOfOne) {
  RunRig rig;
  ASSERT_TRUE(rig.Start());
  for (const ScriptedCall& call : rig.model().Calls()) {
    EXPECT_THAT(call.prompt, Not(HasSubstr("Hint of a person")));
  }
}

// The order waits for the resume, which selects the same even if it is killed again.
TEST(RunSteeringTest, ARunThatIsNotAtWorkTakesItWhenItGoesOn) {
  RunRig rig;
  RunUntil(rig, 1);  // in the first round: the next one is not selected yet
  EXPECT_THAT(*Steer(rig, SteerKind::kPrune, "draft 1"), HasSubstr("research resume"));
  ASSERT_TRUE(rig.Resume());
  const std::string picks = PicksOf(rig, "1_", 1);
  EXPECT_THAT(picks, Not(HasSubstr(rig.EventsOf("node.created", "node")[0])));
  EXPECT_THAT(picks, HasSubstr(rig.EventsOf("node.created", "node")[1]));
  ASSERT_TRUE(rig.Resume());
  EXPECT_EQ(PicksOf(rig, "1_", 1), picks);
  EXPECT_EQ(rig.EventsOf("run.steered", "node").size(), 1U);
}

TEST(RunSteeringTest, WhatCannotBeIsRefusedAndWhatIsAlreadyLeavesNothing) {  // FLT-73: bad input
  RunRig rig;
  RunUntil(rig, 1);
  EXPECT_THAT(Steer(rig, SteerKind::kPin, "draft 9"),
              FailsWith(ErrorCode::kNotFound, "no node is called \"draft 9\""));
  EXPECT_THAT(Steer(rig, SteerKind::kPin, "draft 9"),
              FailsWith(ErrorCode::kNotFound, "there is draft 1, draft 2"));
  EXPECT_THAT(Steer(rig, SteerKind::kPin, ""), FailsWith(ErrorCode::kNotFound, "no node"));
  EXPECT_THAT(Steer(rig, SteerKind::kHint, "draft 1", std::string(kMaxHint + 1, 'x')),
              FailsWith(ErrorCode::kInvalidArgument, "at most 2000 bytes"));
  EXPECT_THAT(Steer(rig, SteerKind::kName, "draft 1", "draft 2"),
              FailsWith(ErrorCode::kInvalidArgument, "\"draft 2\" is a name as the search gives"));
  EXPECT_TRUE(Steer(rig, SteerKind::kPin, rig.EventsOf("node.created", "node")[0].substr(0, 12)));
  EXPECT_THAT(*Steer(rig, SteerKind::kPin, "draft 1"), HasSubstr("is pinned already"));
  EXPECT_THAT(*Steer(rig, SteerKind::kFree, "draft 1"), HasSubstr("neither pinned nor pruned"));
  EXPECT_THAT(*Steer(rig, SteerKind::kFree, "draft 1"), HasSubstr("already"));
  EXPECT_THAT(*Steer(rig, SteerKind::kName, "draft 1", "first"), HasSubstr("is called first"));
  EXPECT_TRUE(Steer(rig, SteerKind::kPrune, "first"));
  EXPECT_TRUE(Steer(rig, SteerKind::kFree, "first"));
  ASSERT_TRUE(rig.Resume());
  EXPECT_EQ(rig.EventsOf("run.steered", "kind"),
            (std::vector<std::string>{"pin", "free", "name", "prune", "free"}));
  EXPECT_THAT(Steer(rig, SteerKind::kPin, "debug 1"),
              FailsWith(ErrorCode::kInvalidArgument, "the run is done"));
  EXPECT_TRUE(Steer(rig, SteerKind::kName, "debug 1", "last"));  // a name is for people
  EXPECT_THAT(Steer(rig, SteerKind::kPin, "nothing"), FailsWith(ErrorCode::kNotFound, "no node"));
}

// A stopped run whose first stage, with two good programs, has ended.
Result<RunOutcome> StageOne(RunRig& rig) {
  rig.draft = "// value 40";
  RunOrder order = rig.Order(RunOrder::Mode::kStart);
  order.until = Step::kStage1;
  return research::Run(order, CancelToken());
}

std::string BestName(const RunRig& rig) {
  return StatusOf(*ReadRunHistory(rig.folder()), *SystemClock()).best_name;
}

TEST(RunSteeringTest, AnOrderAtAStagesEndDecidesWhatTheNextBeginsWith) {
  for (const SteerKind kind : {SteerKind::kPrune, SteerKind::kPin}) {
    RunRig rig;
    ASSERT_TRUE(StageOne(rig));
    ASSERT_EQ(BestName(rig), "draft 1");
    const std::string second = rig.EventsOf("node.created", "node")[1];
    ASSERT_TRUE(Steer(rig, kind, kind == SteerKind::kPin ? "draft 2" : "draft 1"));
    RunOrder order = rig.Order(RunOrder::Mode::kResume);
    order.until = Step::kStage2;
    ASSERT_TRUE(research::Run(order, CancelToken()));
    const RunHistory history = *ReadRunHistory(rig.folder());
    EXPECT_EQ(history.results.stages[1].tree.nodes.front().inherited_from_node_id, second);
    EXPECT_EQ(history.results.stages[0].best_node, second);
    EXPECT_NE(history.results.Best()->steer, Steer::kPruned);
    ASSERT_TRUE(research::Run(order, CancelToken()));  // the journal gives the same again
  }
}

TEST(RunSteeringTest, AnOrderWhileALiveStageEndsIsTakenByTheNext) {
  RunRig rig;
  rig.draft = "// value 40";
  rig.watch = [&](const store::Event& event) {
    if (event.type != "stage.ended" || FindInt(Json(event.data), "number") != 1) return;
    EXPECT_TRUE(Steer(rig, SteerKind::kPrune, "draft 1"));
  };
  ASSERT_TRUE(rig.Start());
  const RunHistory history = *ReadRunHistory(rig.folder());
  EXPECT_EQ(history.results.stages[1].tree.nodes.front().name, "draft 2");
  EXPECT_EQ(history.results.stages[0].tree.Find(history.results.stages[0].best_node)->name,
            "draft 2");
}

TEST(RunSteeringTest, WhatNoStageCouldHeedIsRefusedWithTheReason) {
  RunRig rig;
  ASSERT_TRUE(StageOne(rig));
  ASSERT_TRUE(Steer(rig, SteerKind::kPrune, "draft 1"));
  EXPECT_THAT(Steer(rig, SteerKind::kPrune, "draft 2"),
              FailsWith(ErrorCode::kInvalidArgument, "no program that works is left"));
  RunRig buggy;
  buggy.config.num_workers = 1;  // one of two faulty drafts is fixed
  RunOrder order = buggy.Order(RunOrder::Mode::kStart);
  order.until = Step::kStage1;
  order.stages = {1, 2};
  ASSERT_TRUE(research::Run(order, CancelToken()));
  EXPECT_TRUE(Steer(buggy, SteerKind::kPin, "debug 1"));
  const bool first =
      buggy.EventsOf("node.created", "parent")[2] == buggy.EventsOf("node.created", "node")[0];
  EXPECT_THAT(Steer(buggy, SteerKind::kPin, first ? "draft 2" : "draft 1"),
              FailsWith(ErrorCode::kInvalidArgument, "is buggy and 1_initial_implementation"));
  RunRig last;
  order = last.Order(RunOrder::Mode::kStart);
  order.until = Step::kStage1;
  order.stages = {1};
  ASSERT_TRUE(research::Run(order, CancelToken()));
  EXPECT_THAT(Steer(last, SteerKind::kPrune, "debug 1"),
              FailsWith(ErrorCode::kInvalidArgument, "its last stage has ended"));
  EXPECT_TRUE(Steer(last, SteerKind::kName, "debug 1", "mine"));
}

TEST(RunSteeringTest, NamesAndNumbersThatMeanAnotherNodeAreRefused) {
  RunRig rig;
  RunUntil(rig, 1);
  for (const char* name : {"debug 1", "mean 1", "seed 12", "copy 3"}) {
    EXPECT_THAT(Steer(rig, SteerKind::kName, "draft 1", name),
                FailsWith(ErrorCode::kInvalidArgument, "as the search gives them"));
  }
  EXPECT_TRUE(Steer(rig, SteerKind::kName, "draft 1", "debug"));
  const std::string id = rig.EventsOf("node.created", "node")[0];
  EXPECT_THAT(Steer(rig, SteerKind::kPin, id.substr(0, 5)),
              FailsWith(ErrorCode::kNotFound, "no node is called"));
  EXPECT_TRUE(Steer(rig, SteerKind::kPin, id.substr(0, 6)));
}

TEST(RunSteeringTest, ARefusedResumeLeavesTheEndAndABrokenOneItsReason) {
  RunRig rig;
  ASSERT_TRUE(StageOne(rig));
  RunOrder order = rig.Order(RunOrder::Mode::kResume);
  order.config.roles["code"].model = "nosuch";
  order.open_model = [](const std::string& role) -> Result<driver::BoundModel> {
    return MakeError(ErrorCode::kConfig, "no such model for {}", role);
  };
  EXPECT_THAT(research::Run(order, CancelToken()), FailsWith(ErrorCode::kConfig, "no such model"));
  RunHistory history = *ReadRunHistory(rig.folder());
  EXPECT_EQ(history.end, RunEnd::kStopped);
  EXPECT_EQ(history.reason, "--until");
  EXPECT_THAT(rig.File("config.yaml"), Not(HasSubstr("nosuch")));
  order = rig.Order(RunOrder::Mode::kResume);
  order.backend = [](std::string_view) -> Result<std::unique_ptr<ExecBackend>> {
    return MakeError(ErrorCode::kUnavailable, "no controller answers");
  };
  EXPECT_FALSE(research::Run(order, CancelToken()));
  history = *ReadRunHistory(rig.folder());
  EXPECT_EQ(history.end, std::nullopt);
  EXPECT_THAT(history.reason, HasSubstr("no controller answers"));
}

TEST(RunSteeringTest, StatusShowsWhatHoldsOfOrdersAndAMetricThatNobodyReports) {
  RunRig rig;
  rig.config.primary_metric = "nosuch";
  ASSERT_TRUE(StageOne(rig));
  for (const SteerKind kind : {SteerKind::kPin, SteerKind::kFree, SteerKind::kPrune}) {
    ASSERT_TRUE(Steer(rig, kind, "draft 1"));
  }
  ASSERT_TRUE(Steer(rig, SteerKind::kPin, "draft 2"));
  ASSERT_TRUE(Steer(rig, SteerKind::kFree, "draft 2"));
  const RunHistory history = *ReadRunHistory(rig.folder());
  const ResearchProgress status = StatusOf(history, *SystemClock());
  ASSERT_EQ(status.steered.size(), 1U);
  EXPECT_EQ(status.steered[0].what, "pruned");
  EXPECT_THAT(StatusText(status), HasSubstr("metric   no \"nosuch\" (metric.primary) is reported"));
  EXPECT_THAT(history.warnings, Contains(HasSubstr("no \"nosuch\"")));
  EXPECT_THAT(PlainReport(history.results, {.primary = "nosuch"}),
              HasSubstr("Note: no \"nosuch\""));
}

TEST(RunSteeringTest, ANodeThatTheSearchHasLeftBehindIsNotSteered) {
  RunRig rig;
  rig.config.stages[0] = StageCap{6};
  CancelSource source;
  rig.watch = [&](const store::Event& event) {
    const bool tuned =
        event.type == "node.finished" && TextAt(*Find(event.data, "node"), "kind") == "tuning";
    if (tuned) source.Cancel("in stage 2");
  };
  ASSERT_FALSE(research::Run(rig.Order(RunOrder::Mode::kStart), source.token()));
  rig.watch = {};
  EXPECT_THAT(Steer(rig, SteerKind::kPin, "draft 1"),
              FailsWith(ErrorCode::kInvalidArgument, "draft 1 is of 1_initial_implementation"));
  // In stage 2 the best node is a copy, with the same name.
  EXPECT_TRUE(Steer(rig, SteerKind::kHint, "debug 1", "larger blocks"));
  ASSERT_TRUE(rig.Resume());
}

}  // namespace
}  // namespace dossier::research
