#include "chat/context/compact.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/talk_rig_for_test.h"

namespace dossier::chat {
namespace {

using dossier::testing::FailsWith;
using dossier::testing::Succeeds;
using Trigger = CompactionDecision::Trigger;

struct Figure {
  std::int64_t history;
  double with, without;
  bool pays;
};

// CON-43, CON-A9: the figures of the spec.
TEST(CostOf, ReckonsWithTheCache) {
  const CachePrices prices{.write = 1.25, .read = 0.1, .output = 5};
  for (const Figure& figure :
       {Figure{60'000, 44'250, 60'000, true}, Figure{30'000, 41'250, 30'000, false}}) {
    const CompactionCost cost = CostOf(figure.history, 15'000, 1'200, prices, 10);
    EXPECT_NEAR(cost.with, figure.with, 1e-6);
    EXPECT_NEAR(cost.without, figure.without, 1e-6);
    EXPECT_EQ(cost.pays(), figure.pays);
  }
}

constexpr CachePrices kPrices{.write = 1.25, .read = 0.1, .output = 5};
constexpr CompactionLimits kLimits{
    .soft_tokens = 4'000, .hard_tokens = 12'000, .summary_tokens = 100};

// A conversation of `turns` turns with about `size` tokens each.
TalkRig Talk(int turns, std::size_t size) {
  TalkRig rig;
  rig.system_text = "S";
  for (int i = 1; i <= turns; ++i) {
    rig.reply = "reply " + std::to_string(i);
    rig.Turn("turn " + std::to_string(i) + " " + std::string(size, 'x'));
  }
  return rig;
}

struct Case {
  int turns;
  RequestTokens size;
  Trigger expected;
};

// CON-43
TEST(PlanCompaction, ActsByItsTriggers) {
  for (const Case& given :
       {Case{3, {}, Trigger::kNone}, Case{9, {}, Trigger::kSoft}, Case{14, {}, Trigger::kHard},
        Case{3, {.whole = 3'000, .reserved_output = 500, .window = 3'200}, Trigger::kHard}}) {
    const TalkRig rig = Talk(given.turns, 1'000);
    const auto plan = PlanCompaction(*rig.Read(), kLimits, kPrices, given.size, *rig.counter);
    ASSERT_THAT(plan, Succeeds());
    EXPECT_EQ(plan->trigger, given.expected) << given.turns;
  }
  const TalkRig rig = Talk(14, 1'000);
  CompactionLimits off = kLimits;
  off.mode = CompactionLimits::Mode::kOff;
  EXPECT_EQ(PlanCompaction(*rig.Read(), off, kPrices, {}, *rig.counter)->trigger, Trigger::kNone);
}

// Compacts `rig` and returns what was done.
CompactedHistory Compact(TalkRig* rig, std::optional<std::string_view> summary,
                         ByHand by_hand = ByHand::kYes) {
  const auto plan = PlanCompaction(*rig->Read(), kLimits, kPrices, {}, *rig->counter, by_hand);
  EXPECT_THAT(plan, Succeeds());
  CompactedHistory done = FinishCompaction(*plan, summary, "talk", "gpt-4", "now", *rig->counter);
  EXPECT_THAT(ApplyCompaction(done.records, &*rig->file), Succeeds());
  EXPECT_THAT(rig->file->Apply(), Succeeds());
  return done;
}

std::string Sent(const TalkRig& rig) { return ToJson(ToCanonicalJson(rig.requests.back())); }

// CON-42, CON-44, CON-45, CON-A9
TEST(Compaction, ShortensRequestsAndIsUndoneByteForByte) {
  TalkRig rig = Talk(6, 500);
  rig.options.store = TurnOptions::Store::kReadOnly;
  rig.Turn("ask");
  const std::string before = Sent(rig), file = rig.Text();
  const std::size_t messages = rig.Read()->messages.size();
  const CompactedHistory done = Compact(&rig, "THE SUMMARY");
  EXPECT_EQ(done.line.find("compacted: turns 1-4 ("), 0u) << done.line;
  EXPECT_NE(done.line.find("original kept; undo: dossier conversations compact talk --undo"),
            std::string::npos);
  EXPECT_EQ(rig.Read()->messages.size(), messages);
  rig.Turn("ask");
  const assembly::Messages& sent = rig.requests.back();
  EXPECT_EQ(sent.SystemText(), "S");
  ASSERT_EQ(sent.turns.size(), 5u);  // two kept turns and the question
  EXPECT_TRUE(sent.turns[0].Text().starts_with("THE SUMMARY\n\nturn 5 "));
  ASSERT_THAT(UndoCompaction(&*rig.file), Succeeds());
  ASSERT_THAT(rig.file->Apply(), Succeeds());
  EXPECT_EQ(rig.Text(), file);
  rig.Turn("ask");
  EXPECT_EQ(Sent(rig), before);
  EXPECT_THAT(UndoCompaction(&*rig.file), FailsWith(ErrorCode::kNotFound, "no compaction"));
}

// CON-A9: after a compaction the prefix is stable again.
TEST(Compaction, LeavesAPrefixThatStays) {
  TalkRig rig = Talk(6, 500);
  Compact(&rig, "THE SUMMARY");
  rig.Turn("seven");
  rig.Turn("eight");
  const auto& before = rig.requests[rig.requests.size() - 2].turns;
  const auto& after = rig.requests.back().turns;
  ASSERT_EQ(after.size(), before.size() + 2);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].Text(), after[i].Text());
}

// CON-44
TEST(Compaction, FailedSummaryBecomesAStubOnlyWhereItMust) {
  TalkRig hard = Talk(14, 1'000);
  const CompactedHistory stub = Compact(&hard, std::nullopt, ByHand::kNo);
  ASSERT_FALSE(stub.records.empty());
  EXPECT_EQ(stub.records.back().method, "stub");
  EXPECT_NE(stub.records.back().text.find("earlier turns"), std::string::npos);
  EXPECT_EQ(stub.warnings.size(), 1u);
  TalkRig soft = Talk(9, 1'000);
  const CompactedHistory nothing = Compact(&soft, std::nullopt, ByHand::kNo);
  EXPECT_TRUE(nothing.records.empty());
  EXPECT_EQ(nothing.warnings.size(), 1u);
}

// CON-44, CON-K5: saved blocks become a line; what a user typed stays.
TEST(Compaction, TurnsOldBlocksIntoALine) {
  TalkRig rig;
  rig.commands = {rig.Exec("big")};
  rig.outputs["big"] = std::string(3'000, 'y');
  rig.Turn("create");
  rig.Turn("with block");
  rig.commands.clear();
  const std::string typed = BlockText("typed", std::string(300, 'z')) + "\n\nmine";
  rig.Turn(typed);
  for (int i = 0; i < 3; ++i) rig.Turn("later");
  const auto plan = PlanCompaction(*rig.Read(), {.soft_tokens = 2'000}, kPrices, {}, *rig.counter);
  ASSERT_THAT(plan, Succeeds());
  ASSERT_TRUE(plan->outputs);
  EXPECT_FALSE(plan->summary);
  const CompactedHistory done = FinishCompaction(*plan, {}, "talk", "", "now", *rig.counter);
  EXPECT_EQ(ToJson(FiguresOf(*plan, plan->summary_tokens)), ToJson(done.figures));
  EXPECT_TRUE(DryRunLine(*plan).starts_with("would compact: turns 2-2 (")) << DryRunLine(*plan);
  EXPECT_TRUE(done.line.starts_with("compacted: turns 2-2 (")) << done.line;
  ASSERT_THAT(ApplyCompaction(done.records, &*rig.file), Succeeds());
  ASSERT_THAT(rig.file->Apply(), Succeeds());
  rig.Turn("ask");
  const auto& turns = rig.requests.back().turns;
  EXPECT_TRUE(turns[2].Text().starts_with("[output of big, 3,0")) << turns[2].Text();
  EXPECT_TRUE(turns[2].Text().ends_with("]\n\nwith block"));
  EXPECT_EQ(turns[4].Text(), typed);
}

// FLT-49
TEST(Compaction, ASummaryThatIsLongerThanItsTurnsIsNotTaken) {
  TalkRig rig = Talk(6, 500);
  const std::string file = rig.Text();
  const CompactedHistory done = Compact(&rig, std::string(20'000, 'w'));
  EXPECT_TRUE(done.records.empty());
  EXPECT_TRUE(done.line.starts_with("not compacted: ")) << done.line;
  EXPECT_EQ(rig.Text(), file);
}

// CON-44
TEST(Compaction, MergesSummariesWhenTheyGrow) {
  TalkRig rig = Talk(4, 500);
  for (int i = 0; i < 8; ++i) {
    Compact(&rig, std::string(90, static_cast<char>('A' + i)));
    rig.Turn("more " + std::string(500, 'x'));
  }
  const Stored stored = *rig.Read();
  const bool merged = std::any_of(stored.compaction.begin() + 1, stored.compaction.end(),
                                  [](const CompactionRecord& one) { return one.from == 1; });
  EXPECT_TRUE(merged);
  std::size_t told = 0;
  for (const auto& block : rig.requests.back().turns[0].blocks) told += block.section == "summary";
  EXPECT_LE(told, 5u);
}

// CON-A9: whatever the limits, a request fits or fails, and roles take turns.
TEST(Compaction, KeepsRolesInTurn) {
  for (int turns = 3; turns < 12; ++turns) {
    TalkRig rig = Talk(turns, 400);
    Compact(&rig, "SUMMARY");
    rig.Turn("ask");
    assembly::Role last = assembly::Role::kAssistant;
    for (const assembly::Turn& turn : rig.requests.back().turns) {
      EXPECT_NE(turn.role, last);
      last = turn.role;
    }
  }
}

// CON-44: somebody added a system message to a compacted conversation.
TEST(Compaction, ARecordThatCoversTheSystemMessageCoversNothing) {
  TalkRig rig = Talk(6, 500);
  Compact(&rig, "THE SUMMARY");
  Stored stored = *rig.Read();
  ASSERT_FALSE(stored.compaction.empty());
  stored.compaction[0].from = 0;
  EXPECT_THAT(PlanCompaction(stored, kLimits, kPrices, {}, *rig.counter, ByHand::kYes), Succeeds());
}

// CON-44
TEST(SummaryRequest, AsksForTheOldTurns) {
  const TalkRig rig = Talk(6, 500);
  const auto plan = PlanCompaction(*rig.Read(), kLimits, kPrices, {}, *rig.counter, ByHand::kYes);
  ASSERT_THAT(plan, Succeeds());
  const driver::BoundModel model{.entry = {.capability = rig.capability}, .counter = rig.counter};
  const auto request = driver::AssembleLayout(SummaryCall(*plan), {}, model, {});
  ASSERT_THAT(request, Succeeds());
  const std::string text = request->messages.turns.back().Text();
  EXPECT_NE(text.find("USER:\nturn 1 "), std::string::npos);
  EXPECT_NE(text.find("ASSISTANT:\nreply 4"), std::string::npos);
  EXPECT_EQ(text.find("turn 5 "), std::string::npos);
}

}  // namespace
}  // namespace dossier::chat
