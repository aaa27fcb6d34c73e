#include "research/stage_rules.h"

#include <gtest/gtest.h>

namespace dossier::research {
namespace {

using Start = StageFacts::Start;

TEST(StageRulesTest, EachBranchOfTheEnds) {  // RSP-35, RSP-T15
  struct Case {
    std::string_view about;
    StageFacts facts;
    StageStep step;
  };
  const Case kCases[] = {
      {"stage 1 goes on", {.stage = 1, .made = 3, .cap = 4}, StageStep::kGoOn},
      {"a good node ends stage 1",
       {.stage = 1, .made = 1, .cap = 4, .good = 1},
       StageStep::kEndStage},
      {"success before the cap",
       {.stage = 1, .made = 4, .cap = 4, .good = 1},
       StageStep::kEndStage},
      {"the cap without a good node",
       {.stage = 1, .made = 4, .cap = 4},
       StageStep::kNoWorkingProgram},
      {"no better than its start", {.stage = 2, .made = 2, .cap = 4, .good = 2}, StageStep::kGoOn},
      {"better than its start",
       {.stage = 2, .made = 2, .cap = 4, .start = Start::kBeaten},
       StageStep::kAskCompletion},
      {"the cap of stage 2",
       {.stage = 2, .made = 4, .cap = 4, .start = Start::kBeaten},
       StageStep::kEndStage},
      {"stage 3 asks nothing",
       {.stage = 3, .made = 3, .cap = 4, .start = Start::kBeaten},
       StageStep::kGoOn},
      {"the cap of stage 3", {.stage = 3, .made = 4, .cap = 4}, StageStep::kEndStage},
      {"stage 4 without a good ablation",
       {.stage = 4, .made = 3, .cap = 4, .good = 3},
       StageStep::kGoOn},
      {"stage 4 with one",
       {.stage = 4, .made = 3, .cap = 4, .good_ablations = 1},
       StageStep::kAskCompletion},
      {"a substage's own nodes are used up",
       {.stage = 3, .made = 3, .cap = 9, .made_here = 2, .cap_here = 2},
       StageStep::kNewSubstage},
  };
  for (const Case& c : kCases) EXPECT_EQ(NextStep(c.facts), c.step) << c.about;
}

TEST(StageRulesTest, WhatIsNotCompleteGoesOnUntilItsSubstageIsUsedUp) {  // RSP-35
  StageFacts facts{.stage = 2, .made = 3, .cap = 9, .made_here = 1, .start = Start::kBeaten};
  EXPECT_EQ(NextStepIfNotComplete(facts), StageStep::kGoOn);
  facts.cap_here = 1;
  EXPECT_EQ(NextStepIfNotComplete(facts), StageStep::kNewSubstage);
}

TEST(StageRulesTest, AShortRunIsToldInTheSecondHalfOfStage3) {  // RSP-35
  StageFacts facts{
      .stage = 3, .made = 20, .cap = 40, .best_seconds = 12.0, .timeout_seconds = 3600};
  EXPECT_NE(TimeFeedback(facts).find("12 of the 3600 seconds"), std::string::npos);
  facts.best_seconds = 1800;
  EXPECT_EQ(TimeFeedback(facts), "");
  facts.best_seconds = 12.0, facts.made = 19;
  EXPECT_EQ(TimeFeedback(facts), "");
  facts.made = 20, facts.stage = 2;
  EXPECT_EQ(TimeFeedback(facts), "");
}

TEST(StageRulesTest, NamesOfStages) {  // RSP-31
  EXPECT_EQ(StageName(1, 1, FirstSubstage(1)), "1_initial_implementation_1_preliminary");
  EXPECT_EQ(StageName(2, 1, FirstSubstage(2)), "2_baseline_tuning_1_first_attempt");
  EXPECT_EQ(StageName(3, 2, "../Larger inputs!"), "3_creative_research_2_Larger_inputs");
  EXPECT_EQ(StageName(4, 3, "日本"), "4_ablation_studies_3_next_attempt");
  EXPECT_EQ(StageNumber("4_ablation_studies_3_next_attempt"), 4);
  EXPECT_EQ(StageNumber("4_ablation"), 0);
}

}  // namespace
}  // namespace dossier::research
