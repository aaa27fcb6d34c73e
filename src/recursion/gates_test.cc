#include "recursion/gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dossier::recursion {
namespace {

using ::testing::HasSubstr;

using LastChance = GateSituation::LastChance;
using SubcallsUsed = GateSituation::SubcallsUsed;

const std::vector<std::string> kNothing;

GateContext Context(QuestionKind kind = QuestionKind::kLookup) {
  return {.kind = kind, .question = "Which one?", .context_chars = 10'000};
}

GateSituation After(int clean_blocks, const std::vector<std::string>& printed = kNothing) {
  return {.clean_blocks = clean_blocks, .printed = &printed};
}

std::string GateOf(const std::optional<Refusal>& refusal) {
  return refusal ? refusal->gate : "passed";
}

TEST(GatesTest, AnAnswerBeforeAnyCleanBlockIsRefusedOnce) {  // REC-36, REC-41, REC-A11
  Gates gates(Context());
  EXPECT_EQ(GateOf(gates.Check("x", After(0))), "first_turn");
  EXPECT_EQ(GateOf(gates.Check("x", After(0))), "passed");
}

TEST(GatesTest, TheFirstTurnGateBeginsAt200Characters) {  // REC-36
  for (const auto& [chars, wanted] : {std::pair{199, "passed"}, std::pair{200, "first_turn"}}) {
    GateContext context = Context();
    context.context_chars = static_cast<std::uint64_t>(chars);
    Gates gates(context);
    EXPECT_EQ(GateOf(gates.Check("x", After(0))), wanted) << chars;
  }
}

TEST(GatesTest, NoGateHoldsOnTheLastTurnOrWithoutFullForcing) {  // REC-41
  for (const Forcing forcing : {Forcing::kFull, Forcing::kReference, Forcing::kNone}) {
    GateContext context = Context(QuestionKind::kAggregate);
    context.profile = Profile::kSmall;
    context.forcing = forcing;
    Gates gates(context);
    GateSituation situation = After(0);
    if (forcing == Forcing::kFull) situation.last_chance = LastChance::kYes;
    EXPECT_EQ(GateOf(gates.Check("42", situation)), "passed") << static_cast<int>(forcing);
  }
}

TEST(GatesTest, AnAggregateAnswerWithLittleCoverageIsRefusedOnce) {  // REC-39
  Gates gates(Context(QuestionKind::kAggregate));
  GateSituation situation = After(1);
  situation.coverage = 0.89;
  const auto refusal = gates.Check("42", situation);
  ASSERT_EQ(GateOf(refusal), "coverage");
  EXPECT_THAT(refusal->reason, HasSubstr("again"));
  EXPECT_EQ(gates.coverage_state(), "refused");
  EXPECT_EQ(GateOf(gates.Check("42", situation)), "passed");
}

TEST(GatesTest, ARefusalForCoverageCountsRecordsWhereThereAreRecords) {  // REC-39
  for (const auto& [records, wanted] :
       {std::pair{11'000, "1,100 of 11,000 records"}, std::pair{0, "1,000 of 10,000 characters"}}) {
    GateContext context = Context(QuestionKind::kAggregate);
    context.context_records = static_cast<std::uint64_t>(records);
    Gates gates(context);
    GateSituation situation = After(1);
    situation.coverage = 0.1;
    const auto refusal = gates.Check("42", situation);
    ASSERT_TRUE(refusal);
    EXPECT_THAT(refusal->reason, HasSubstr(wanted));
  }
}

TEST(GatesTest, TheCoverageGateIsForAggregateQuestionsWithSubcalls) {  // REC-39
  struct Row {
    const char* what;
    QuestionKind kind;
    int depth;
    double coverage;
    Profile profile;
    SubcallsUsed used;
    const char* wanted;
  };
  constexpr Row kRows[] = {
      {"enough", QuestionKind::kAggregate, 1, 0.9, Profile::kLarge, SubcallsUsed::kYes, "passed"},
      {"lookup", QuestionKind::kLookup, 1, 0, Profile::kLarge, SubcallsUsed::kYes, "passed"},
      {"open", QuestionKind::kOpen, 1, 0, Profile::kLarge, SubcallsUsed::kYes, "passed"},
      {"alone", QuestionKind::kAggregate, 0, 0, Profile::kLarge, SubcallsUsed::kNo, "passed"},
      {"large", QuestionKind::kAggregate, 1, 0, Profile::kLarge, SubcallsUsed::kNo, "coverage"},
      {"small", QuestionKind::kAggregate, 1, 0, Profile::kSmall, SubcallsUsed::kNo, "passed"},
      {"asked", QuestionKind::kAggregate, 1, 0, Profile::kSmall, SubcallsUsed::kYes, "coverage"},
  };
  const std::vector<std::string> printed{"42"};
  for (const Row& row : kRows) {
    GateContext context = Context(row.kind);
    context.depth = row.depth;
    context.profile = row.profile;
    Gates gates(context);
    GateSituation situation = After(1, printed);
    situation.coverage = row.coverage;
    situation.subcalls = row.used;
    EXPECT_EQ(GateOf(gates.Check("42", situation)), row.wanted) << row.what;
  }
}

TEST(GatesTest, ASmallModelsAnswerMustStandOnOutput) {  // REC-40
  GateContext context = Context();
  context.profile = Profile::kSmall;
  context.hint_values = {"libmpc3"};
  const std::vector<std::string> printed{"42 gcc"};
  for (const auto& [answer, wanted] :
       {std::pair{"42", "passed"}, std::pair{"43", "grounding"}, std::pair{"libmpc3", "grounding"},
        std::pair{"Which one? gcc", "passed"}}) {
    Gates gates(context);
    EXPECT_EQ(GateOf(gates.Check(answer, After(1, printed))), wanted) << answer;
    EXPECT_EQ(GateOf(gates.Check(answer, After(1, printed))), "passed") << "once only";
  }
  context.kind = QuestionKind::kOpen;
  Gates open(context);
  EXPECT_EQ(GateOf(open.Check("43", After(1, printed))), "passed");
}

TEST(GatesTest, AnAnswerThatPassesOnlyBecauseTheGateIsUsedUpIsDoubted) {  // REC-40, REC-41
  GateContext context = Context();
  context.profile = Profile::kSmall;
  const std::vector<std::string> printed{"42"};
  Gates gates(context);
  ASSERT_EQ(GateOf(gates.Check("43", After(1, printed))), "grounding");
  ASSERT_EQ(GateOf(gates.Check("43", After(1, printed))), "passed");
  EXPECT_THAT(gates.Doubt("43", After(1, printed)), HasSubstr("43"));
  EXPECT_EQ(gates.Doubt("42", After(1, printed)), "");
  context.forcing = Forcing::kNone;
  EXPECT_EQ(Gates(context).Doubt("43", After(1, printed)), "");
  context.forcing = Forcing::kFull;
  context.profile = Profile::kLarge;
  EXPECT_EQ(Gates(context).Doubt("43", After(1, printed)), "");
}

}  // namespace
}  // namespace dossier::recursion
