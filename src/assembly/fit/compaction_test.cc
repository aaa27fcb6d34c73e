#include "assembly/fit/compaction.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/test_prompts.h"

namespace dossier::assembly {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

CompactionPolicy Policy(std::int64_t start, std::int64_t target) {
  return {.start = start,
          .target = target,
          .keep_first = 0,
          .keep_last = 2,
          .fresh_exchanges = 2,
          .summary_tokens = 50,
          .count = [](std::string_view text) { return static_cast<std::int64_t>(text.size()); }};
}

HistoryTurn Add(std::vector<HistoryTurn>* turns, Turn turn, std::string output_of = "") {
  HistoryTurn added{.id = fmt::format("t{}", turns->size()), .turn = std::move(turn)};
  added.output_of = std::move(output_of);
  added.tokens = static_cast<std::int64_t>(added.turn.Text().size());
  turns->push_back(added);
  return added;
}

// User, call, results, assistant, over and over.
std::vector<HistoryTurn> Session(int exchanges, std::size_t output = 400) {
  std::vector<HistoryTurn> turns;
  for (int i = 0; i < exchanges; ++i) {
    const std::string id = std::to_string(i);
    Add(&turns, Says(Role::kUser, "question " + id));
    Add(&turns,
        {Role::kAssistant, {{.type = Block::Type::kToolCall, .call_id = id, .tool_name = "ls"}}});
    Add(&turns,
        {Role::kTool,
         {{.type = Block::Type::kToolResult, .text = std::string(output, 'x'), .call_id = id}}},
        "ls");
    Add(&turns, Says(Role::kAssistant, std::string(100, 'a')));
  }
  return turns;
}

std::string Text(const std::vector<Turn>& turns) { return Transcript(Messages{.turns = turns}); }

std::vector<Turn> Plainly(const std::vector<HistoryTurn>& turns) {
  std::vector<Turn> out;
  for (const HistoryTurn& turn : turns) out.push_back(turn.turn);
  return out;
}

TEST(CompactionTest, BelowTheStartNothingHappensAndTheViewIsTheHistory) {  // REC-63, CON-42
  const auto turns = Session(3);
  const CompactionPolicy policy = Policy(10'000, 5'000);
  EXPECT_EQ(PlanCompaction(turns, {}, policy).step, CompactionPlan::Step::kNone);
  EXPECT_EQ(Text(CompactedView(turns, {}, policy)), Text(Plainly(turns)));
}

TEST(CompactionTest, FirstOldOutputsBecomeALineEach) {  // REC-63, CON-44
  const auto turns = Session(5);
  const CompactionPolicy policy = Policy(2000, 1900);
  const CompactionPlan plan = PlanCompaction(turns, {}, policy);
  EXPECT_EQ(plan.step, CompactionPlan::Step::kRules);
  EXPECT_EQ(plan.shorten, (std::vector<std::string>{"t2", "t6", "t10"}));
  const auto compaction = ApplyCompaction(turns, {}, plan, "", policy);
  ASSERT_THAT(compaction, Succeeds());
  const std::vector<Turn> view = CompactedView(turns, *compaction, policy);
  ASSERT_EQ(view.size(), turns.size());
  EXPECT_EQ(view[2].blocks[0].text.substr(0, 44), "[output of ls, 400 bytes, omitted; sha256 7b");
  EXPECT_EQ(view[2].blocks[0].call_id, "0");
  EXPECT_EQ(view[14].blocks[0].text, std::string(400, 'x'));
  EXPECT_EQ(PlanCompaction(turns, *compaction, policy).step, CompactionPlan::Step::kNone);
}

TEST(CompactionTest, ThenTheOldestTurnsBecomeASummaryThatMapsBackToThem) {  // REC-63, CON-44
  const auto turns = Session(6);
  CompactionPolicy policy = Policy(1500, 1200);
  policy.keep_first = 4;
  const CompactionPlan plan = PlanCompaction(turns, {}, policy);
  ASSERT_EQ(plan.step, CompactionPlan::Step::kSummarize);
  EXPECT_EQ(plan.first, "t4");
  const auto compaction = ApplyCompaction(turns, {}, plan, "They listed files.", policy);
  ASSERT_THAT(compaction, Succeeds());
  const HistorySummary& summary = compaction->summaries.at(0);
  EXPECT_EQ(Covered(turns, summary).front().id, "t4");
  EXPECT_EQ(Covered(turns, summary).back().id, plan.last);
  EXPECT_LT(summary.tokens_after, summary.tokens_before);
  const std::vector<Turn> view = CompactedView(turns, *compaction, policy);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(Text({view[i]}), Text({turns[i].turn})) << "the first turns stay as they are";
  }
  EXPECT_EQ(view[4].role, Role::kUser);
  EXPECT_EQ(view[4].blocks[0].section, "summary");
  EXPECT_EQ(view[4].blocks[0].text, "They listed files.");
  EXPECT_EQ(view[4].blocks[1].text.substr(0, 8), "question");
  EXPECT_THAT(ApplyCompaction(turns, {}, plan, " ", policy),
              FailsWith(ErrorCode::kInvalidArgument, "the summary is empty"));
  EXPECT_THAT(ApplyCompaction(std::span(turns).first(2), {}, plan, "x", policy),
              FailsWith(ErrorCode::kInvalidArgument, "the history has no turn"));
}

TEST(CompactionTest, WhereNothingMayGoThePlanSaysSo) {  // CON-43
  std::vector<HistoryTurn> turns;
  Add(&turns, Says(Role::kUser, std::string(500, 'q')));
  Add(&turns, Says(Role::kAssistant, std::string(500, 'a')));
  EXPECT_EQ(PlanCompaction(turns, {}, Policy(100, 50)).step, CompactionPlan::Step::kStuck);
}

TEST(CompactionTest, ACompactionIsUndoneByForgettingIt) {  // CON-42
  const auto turns = Session(8);
  const CompactionPolicy policy = Policy(1500, 900);
  const CompactionPlan plan = PlanCompaction(turns, {}, policy);
  const Compaction compaction = *ApplyCompaction(turns, {}, plan, "Told.", policy);
  EXPECT_NE(Text(CompactedView(turns, compaction, policy)), Text(Plainly(turns)));
  EXPECT_EQ(Text(CompactedView(turns, {}, policy)), Text(Plainly(turns)));
}

TEST(CompactionTest, ManySummariesBecomeOneThatStandsForAllTheirTurns) {  // CON-44, REC-63
  const CompactionPolicy policy = Policy(1500, 1000);
  const std::string told(static_cast<std::size_t>(policy.summary_tokens), 's');
  Compaction compaction;
  std::vector<HistoryTurn> turns;
  std::size_t most = 0, merges = 0;
  for (int exchange = 0; exchange < 60; ++exchange) {
    for (HistoryTurn turn : Session(1, 100)) {
      turn.id = fmt::format("t{}", turns.size());
      turns.push_back(turn);
    }
    const CompactionPlan plan = PlanCompaction(turns, compaction, policy);
    const std::size_t before = compaction.summaries.size();
    compaction = *ApplyCompaction(turns, compaction, plan, told, policy);
    merges += compaction.summaries.size() < before ? 1 : 0;
    most = std::max(most, compaction.summaries.size());
    if (compaction.summaries.size() < before) {
      EXPECT_EQ(compaction.summaries.front().first, "t0");
    }
    ASSERT_LT(Text(CompactedView(turns, compaction, policy)).size(), 2500u) << exchange;
  }
  EXPECT_GT(merges, 1u);
  EXPECT_EQ(most, 5u) << "merged once they cost more than four";
}

// No result without its call right before it, no two answers in a row.
std::string WhyInvalid(const std::vector<Turn>& turns) {
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const bool result = turns[i].role == Role::kTool;
    const bool called = i > 0 && !turns[i - 1].blocks.empty() &&
                        turns[i - 1].blocks.back().type == Block::Type::kToolCall;
    if (result != called) return fmt::format("turn {}: a call and its result are apart", i);
    if (i > 0 && turns[i].role == turns[i - 1].role) return fmt::format("turn {}: twice", i);
  }
  return {};
}

TEST(CompactionTest, AGrowingSessionStaysSmallValidAndStable) {  // REC-63, REC-A24, CON-44
  Random random(/*seed=*/3);
  for (int round = 0; round < 200; ++round) {
    CompactionPolicy policy = Policy(3000, 1500);
    policy.keep_first = random.Below(2) * 4;
    policy.keep_last = random.Below(4) + 1;
    Compaction compaction;
    std::vector<HistoryTurn> turns;
    std::string before;
    for (int exchange = 0; exchange < 30; ++exchange) {
      for (const HistoryTurn& turn : Session(1, random.Below(600))) {
        HistoryTurn added = turn;
        added.id = fmt::format("t{}", turns.size());
        turns.push_back(added);
      }
      const CompactionPlan plan = PlanCompaction(turns, compaction, policy);
      const auto next = ApplyCompaction(turns, compaction, plan, "Short.", policy);
      ASSERT_THAT(next, Succeeds());
      compaction = *next;
      const std::vector<Turn> view = CompactedView(turns, compaction, policy);
      ASSERT_EQ(WhyInvalid(view), "") << round;
      const std::string text = Text(view);
      if (plan.step == CompactionPlan::Step::kNone) {
        EXPECT_TRUE(text.starts_with(before)) << "the prefix stays while nothing is compacted";
      }
      before = text;
      ASSERT_LT(text.size(), 3000 + 4 * 800u) << round << " " << exchange;
      for (std::size_t i = 1; i <= policy.keep_last && i <= turns.size(); ++i) {
        const HistoryTurn& kept = turns[turns.size() - i];
        EXPECT_TRUE(Text({view[view.size() - i]}).ends_with(Text({kept.turn}).substr(6)));
      }
    }
    for (std::size_t i = 1; i < compaction.summaries.size(); ++i) {
      EXPECT_LT(std::stoi(compaction.summaries[i - 1].last.substr(1)),
                std::stoi(compaction.summaries[i].first.substr(1)));
    }
  }
}

}  // namespace
}  // namespace dossier::assembly
