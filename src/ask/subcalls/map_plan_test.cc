#include "ask/subcalls/map_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "ask/policy/model_policy.h"
#include "base/random.h"

namespace dossier::ask {
namespace {

using ::testing::ElementsAre;
using Batches = std::vector<std::vector<std::size_t>>;

std::vector<std::size_t> FirstItems(std::size_t count) {
  std::vector<std::size_t> items(count);
  std::iota(items.begin(), items.end(), 0);
  return items;
}

TEST(MapPlanTest, EqualItemsAreAskedOnce) {  // REC-54
  const std::vector<std::string_view> items = {"a", "b", "a", "c", "b", ""};
  const UniqueItems unique = FindUnique(items);
  EXPECT_THAT(unique.first, ElementsAre(0, 1, 3, 5));
  EXPECT_THAT(unique.group, ElementsAre(0, 1, 0, 2, 1, 3));
}

TEST(MapPlanTest, ItemsArePackedInOrderByCountAndTokens) {  // REC-52
  EXPECT_EQ(PlanBatches(FirstItems(5), std::vector<std::int64_t>(5, 1), {.max_items = 2}),
            (Batches{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(PlanBatches(FirstItems(4), std::vector<std::int64_t>{60, 40, 1, 300},
                        {.max_items = 25, .max_tokens = 100}),
            (Batches{{0, 1}, {2}, {3}}))
      << "an item that is too large alone has its own request";
  EXPECT_EQ(PlanBatches(std::vector<std::size_t>{4, 2}, std::vector<std::int64_t>(5, 1), {}),
            (Batches{{4, 2}}));
  EXPECT_EQ(PlanBatches({}, {}, {}), Batches{});
  EXPECT_EQ(PlanBatches(FirstItems(2), std::vector<std::int64_t>(2, 1), {.max_items = 0}),
            (Batches{{0}, {1}}));
  EXPECT_EQ(PolicyOf(Profile::kLarge).map_items, 25u);
  EXPECT_EQ(PolicyOf(Profile::kSmall).map_items, 1u);
}

TEST(MapPlanTest, RetriesHalveAndEndOneByOne) {  // REC-53
  std::vector<std::size_t> sizes;
  for (int round = 1; round <= kMapRetryRounds; ++round) sizes.push_back(RetryItems(25, round));
  EXPECT_THAT(sizes, ElementsAre(12, 6, 1));
  EXPECT_EQ(RetryItems(1, 1), 1u);
}

TEST(MapPlanTest, LabelsMatchExactlyThenLooselyThenByUniquePrefix) {  // REC-52
  const std::vector<std::string> labels = {"positive", "negative", "Neutral",
                                           "neutral",  "not sure", "needs-work"};
  struct Case {
    std::string_view text;
    std::optional<std::size_t> label;
  };
  constexpr Case kCases[] = {
      {"positive", 0},
      {" Positive. ", 0},
      {"**NEGATIVE**", 1},
      {"\"not sure\"", 4},
      {"Neutral", 2},
      {"neutral", 3},
      {"NEUTRAL", {}},
      {"pos", 0},
      {"No.", {}},  // a refusal rather than "not sure"
      {"ne", {}},
      {"neg", 1},
      {"Needs", 5},
      {"", {}},
      {"...", {}},
      {"positive or negative", {}},
      {"great", {}},
      {"not sure (it may be negative)", {}},
      {"not sure: it does not say", 4},
      {"Positive\nIt praises the food.", 0},
  };
  for (const Case& c : kCases) EXPECT_EQ(MatchLabel(c.text, labels), c.label) << c.text;
}

TEST(MapPlanTest, AReplyIsReadLineByLine) {  // REC-52
  const std::vector<std::string> labels = {"yes", "no"};
  struct Case {
    std::string_view reply;
    std::vector<int> found;  // -1: missing
  };
  const Case kCases[] = {
      {"1: yes\n2: no\n3: yes", {0, 1, 0}},
      {"1. yes\r\n2) no\r\n3 - YES.", {0, 1, 0}},
      {"Here you are:\n- **1**: yes\n- **2:** no\n* [3] yes\nDone.", {0, 1, 0}},
      {"Item 1: yes\nitem 2 = no\n#3: y", {0, 1, 0}},
      {"2: no\n1: yes", {0, 1, -1}},
      {"1: yes\n2: maybe\n3: no", {0, -1, 1}},
      {"1: yes\n1: no\n2: no\n2: no", {-1, 1, -1}},
      {"1: the food was great\n1: yes", {0, -1, -1}},
      {"0: yes\n4: yes\n99999999999999999999: no", {-1, -1, -1}},
      {"yes\nno\nyes", {0, 1, 0}},
      {"The labels:\n\n- yes\n- No (clear)\n\n- yes\n", {0, 1, 0}},
      {"yes\nno", {-1, -1, -1}},
      {"yes\nno\nyes\nno", {-1, -1, -1}},
      {"yes\nmaybe\nno\nyes", {-1, -1, -1}},
      {"1: yes (clear)\n2: no - because it is late\n3: **Yes** — as asked", {0, 1, 0}},
      {"1: yes (or no)\n2: no - not yes\n3: yes and no", {-1, -1, -1}},
      {"1: no idea\n2: yes-man\n3: No, I never got it", {-1, -1, -1}},
      {"| # | label |\n|---|---|\n| 1 | yes |\n| 2 | no |\n| 3 | Yes. |", {0, 1, 0}},
      {"| 1 | it came | yes |\n| 2 | no | yes |\n3 | no", {0, -1, 1}},
      {"", {-1, -1, -1}},
      {R"({"1": "yes", "2": "no", "3": "yes"})", {0, 1, 0}},
      {"```json\n{\"labels\": {\"1\": \"yes\", \"3\": \"no\"}}\n```", {0, -1, 1}},
      {R"(["yes", "no", "No"])", {0, 1, 1}},
      {R"(["yes", "no"])", {-1, -1, -1}},
      {R"({"1": 7, "x": "yes", "2": "no"})", {-1, 1, -1}},
  };
  for (const Case& c : kCases) {
    std::vector<int> found;
    for (const auto& label : ParseLabels(c.reply, labels, 3)) {
      found.push_back(label ? static_cast<int>(*label) : -1);
    }
    EXPECT_EQ(found, c.found) << c.reply;
  }
  EXPECT_EQ(ParseLabels("2: yes\n3: no\n4: yes", labels, 3),
            (std::vector<std::optional<std::size_t>>(3)))
      << "numbers off by one: each label belongs to the neighbour";
  EXPECT_EQ(ParseLabels(R"({"2": "yes", "3": "no", "4": "yes"})", labels, 3),
            (std::vector<std::optional<std::size_t>>(3)));
  EXPECT_EQ(ParseLabels(" Yes.\n", labels, 1), (std::vector<std::optional<std::size_t>>{0}))
      << "one item needs no number";
}

TEST(MapPlanTest, EveryItemIsInOneBatchAndNoBatchIsAboveItsLimits) {  // REC-52, REC-53
  Random random(37);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::int64_t> tokens(random.Below(60));
    for (std::int64_t& t : tokens) t = static_cast<std::int64_t>(random.Below(50));
    const BatchLimits limits{.max_items = 1 + random.Below(10),
                             .max_tokens = static_cast<std::int64_t>(random.Below(100))};
    std::vector<std::size_t> seen;
    for (const auto& batch : PlanBatches(FirstItems(tokens.size()), tokens, limits)) {
      ASSERT_FALSE(batch.empty());
      EXPECT_LE(batch.size(), limits.max_items);
      std::int64_t sum = 0;
      for (const std::size_t item : batch) sum += tokens[item];
      if (batch.size() > 1) {
        EXPECT_LE(sum, limits.max_tokens);
      }
      seen.insert(seen.end(), batch.begin(), batch.end());
    }
    EXPECT_EQ(seen, FirstItems(tokens.size()));
  }
}

TEST(MapPlanTest, AnyReplyIsRead) {
  const std::vector<std::string> labels = {"yes", "no"};
  constexpr std::string_view kPieces[] = {
      "1",  "2", ":", " ", "yes", "no",   "\n",           "{",   "}",
      "\"", "[", "]", ",", "*",   "item", "999999999999", "\xFF"};
  Random random(41);
  for (int round = 0; round < 10'000; ++round) {
    std::string reply;
    for (std::uint64_t i = random.Below(16); i > 0; --i) {
      reply += kPieces[random.Below(std::size(kPieces))];
    }
    EXPECT_EQ(ParseLabels(reply, labels, 2).size(), 2u);
  }
}

TEST(MapPlanTest, CandidatesForTheFirstTokenScoreTheLabels) {  // REC-52
  const std::vector<std::string> labels{"spam", "not spam", "No idea"};
  const auto scores = ScoreLabels(
      std::vector<model::TokenChance>{{"spam", std::log(0.5)},
                                      {" Sp", std::log(0.25)},
                                      {"Not", std::log(0.1)},
                                      {"n", std::log(0.05)},  // of two labels: inconclusive
                                      {"", std::log(0.04)},
                                      {"maybe", std::log(0.03)}},
      labels);
  ASSERT_TRUE(scores);
  EXPECT_NEAR((*scores)[0], std::log(0.75), 1e-9);
  EXPECT_NEAR((*scores)[1], std::log(0.1), 1e-9);
  EXPECT_NEAR((*scores)[2], std::log(0.03), 1e-9);  // as the last candidate
}

TEST(MapPlanTest, ACandidateFromTheMiddleOfALabelScoresIt) {  // SML-18
  const std::vector<std::string> labels{"excuse the absence with an Illness or injury", "other"};
  const auto scores = ScoreLabels(
      std::vector<model::TokenChance>{{" ill", std::log(0.5)},
                                      {"Other", std::log(0.25)},
                                      {"or", std::log(0.1)},      // too short to be a word of one
                                      {"in", std::log(0.06)},     // of "injury"
                                      {"sence", std::log(0.05)},  // inside a word
                                      {"sick", std::log(0.02)}},
      labels);
  ASSERT_TRUE(scores);
  EXPECT_NEAR((*scores)[0], std::log(0.56), 1e-9);
  EXPECT_NEAR((*scores)[1], std::log(0.25), 1e-9);
  const std::vector<std::string> alike{"late delivery", "fast delivery"};
  EXPECT_FALSE(ScoreLabels(std::vector<model::TokenChance>{{"delivery", -0.01}}, alike));
}

TEST(MapPlanTest, CandidatesThatSayNothingOfTheLabelsScoreNone) {  // REC-52
  const std::vector<std::string> alike{"asks for a refund", "asks for help"};
  const std::vector<model::TokenChance> asks{{"asks", -0.01}, {"The", -5}};
  EXPECT_FALSE(ScoreLabels(asks, alike));
  EXPECT_FALSE(ScoreLabels({}, alike));
  const std::vector<std::string> notes{"illness", "other"};
  EXPECT_FALSE(ScoreLabels(std::vector<model::TokenChance>{{"I", -0.01}}, notes)) << "I cannot";
  EXPECT_TRUE(ScoreLabels(std::vector<model::TokenChance>{{"i", -0.01}}, notes));
}

TEST(MapPlanTest, TheCutLiesBetweenTheScoresOfNamesAndOfNothing) {  // SML-18
  // A model that says "spam" for nearly everything, and is less sure of the word "normal".
  const std::vector<Scores> names{{-0.01, -5.0}, {-0.6, -0.9}};
  const std::vector<Scores> nothing{{-0.1, -2.1}, {-0.2, -1.2}};
  const auto leaning = LeaningOf(names, nothing);
  ASSERT_TRUE(leaning);
  EXPECT_NEAR((*leaning)[0] - (*leaning)[1], ((5.0 - 0.01 + 0.9 - 0.6) / 2 + 1.5) / 2, 1e-9);
  EXPECT_EQ(BestLabel({-0.02, -4.0}, *leaning), 0u);
  EXPECT_EQ(BestLabel({-0.1, -1.9}, *leaning), 1u);
  EXPECT_EQ(BestLabel({-0.1, -1.9}, {0, 0}), 0u);  // the likelier word
  const auto names_only = LeaningOf(names, {});
  ASSERT_TRUE(names_only);
  EXPECT_NEAR((*names_only)[0] - (*names_only)[1], (5.0 - 0.01 + 0.9 - 0.6) / 2, 1e-9);
}

TEST(MapPlanTest, NamesThatTheModelConfusesGiveNoCut) {  // SML-18
  const std::vector<Scores> names{{-1.0, -0.5}, {-0.5, -1.0}};
  EXPECT_FALSE(LeaningOf(names, {}));
}

TEST(MapPlanTest, TextsOfTwoKindsAreSplitWhateverTheirShares) {  // SML-18
  struct Case {
    std::vector<double> choice, asked;
    std::vector<std::size_t> labels;
  };
  const Case cases[] = {
      // One text of nine, where the words always say label 1.
      {{-9, -8.9, -9.1, -5, -9.2, -8.8, -9, -9.1, -8.9},
       {-2, -2.1, -1.9, 3, -2.2, -1.8, -2, -2.1, -1.9},
       {1, 1, 1, 0, 1, 1, 1, 1, 1}},
      // Half of them; the choice is wrong about the third, the question is not.
      {{4, 4.1, 0.5, 3.9, 0, 0.1, -0.1, 0},
       {2, 2.1, 2, 1.9, -2, -2.1, -2, -1.9},
       {0, 0, 0, 0, 1, 1, 1, 1}},
      // The question asks for label 1.
      {{4, 4.1, 4, 3.9, 0, 0.1, -0.1, 0},
       {-2, -2.1, -2, -1.9, 2, 2.1, 2, 1.9},
       {0, 0, 0, 0, 1, 1, 1, 1}},
  };
  for (const Case& c : cases) {
    const auto groups = SplitTexts(c.choice, c.asked);
    ASSERT_TRUE(groups);
    EXPECT_EQ(groups->labels, c.labels);
    const bool odd_one = &c == &cases[0];  // a group of one text in nine says little
    EXPECT_EQ(IsSure(*groups), !odd_one) << groups->unsure << " " << groups->apart;
  }
}

// Scores of 18 notes, 8 of them wanted, that run into each other: the two highest alone are no
// group.
TEST(MapPlanTest, FewOutliersAreNotTakenForAGroup) {  // SML-18
  const std::vector<double> choice{3.1, 0.6,  3.9, 3.3, 1.1, -1.2, 0.1, 7.3, 1.3,
                                   1.1, -0.3, 1.2, 0.3, 5.7, 1.4,  1.6, 2.4, -1.2},
      asked{0.5, 0.5, 0.4, 0.5, 0.4, 0.5, 0.2, 0.7, 0.8, 0.5, 0.2, 0.6, 0.2, 0.7, 0.4, 0.2, 0, 0.4};
  const auto groups = SplitTexts(choice, asked);
  ASSERT_TRUE(groups);
  EXPECT_GE(groups->smaller, 5.0 / 18 - 1e-9);  // without the prior 2 of 18
  EXPECT_FALSE(IsSure(*groups));
}

TEST(MapPlanTest, ScoresOfDifferentMindsAboutTheCountAreUnsure) {  // FLT-36
  const std::vector<double> choice{4, 4.1, 3.9, 4, 0, 0.1, -0.1, 0, 0.2, 0.1},
      asked{2, -2, -2.1, -1.9, -2, -2.1, -1.9, -2, -2.2, 2.1};
  const auto groups = SplitTexts(choice, asked);
  ASSERT_TRUE(groups);
  EXPECT_NEAR(groups->apart, 0.2, 1e-9);
  EXPECT_FALSE(IsSure(*groups));
}

TEST(MapPlanTest, ScoresThatCountAlikeButOtherTextsAreUnsure) {  // FLT-36
  const std::vector<double> choice{4, 4.1, 3.9, 4, 4.05, 0, 0.1, -0.1, 0, 0.2},
      asked{2, 2.1, -2, -2.1, -1.9, 2, 2.2, 1.9, -2, -2.1};
  const auto groups = SplitTexts(choice, asked);
  ASSERT_TRUE(groups);
  EXPECT_NEAR(groups->apart, 0, 1e-9);
  EXPECT_NEAR(groups->disputed, 0.6, 1e-9);
  EXPECT_FALSE(IsSure(*groups));
}

// All texts are of one kind: the scores have one peak, yet can be split into two groups.
TEST(MapPlanTest, OneGroupIsSeldomTakenForTwo) {  // FLT-36
  Random random(7);
  const auto bell = [&] {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.Below(1'000'000)) / 1e6;
    return sum - 6;
  };
  int sure = 0;
  constexpr int kRounds = 400;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> choice, asked;
    for (int i = 0; i < 20; ++i) {
      const double common = bell();
      choice.push_back(common + bell());
      asked.push_back(common + bell());
    }
    const auto groups = SplitTexts(choice, asked);
    ASSERT_TRUE(groups);
    if (IsSure(*groups)) ++sure;
  }
  EXPECT_LE(sure, kRounds / 20);
}

TEST(MapPlanTest, GroupsThatRunIntoEachOtherAreUnsure) {  // FLT-36
  const std::vector<double> spread{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
      other{1, 0, 3, 2, 5, 4, 7, 6, 9, 8};
  const auto groups = SplitTexts(spread, other);
  ASSERT_TRUE(groups);
  EXPECT_LE(groups->two_rather_than_one, 0);
  EXPECT_FALSE(IsSure(*groups));
  const auto straight = SplitTexts(spread, spread);
  ASSERT_TRUE(straight);
  EXPECT_FALSE(IsSure(*straight));
  const std::vector<double> alike(10, 1.0);
  EXPECT_FALSE(SplitTexts(alike, alike));
  EXPECT_FALSE(SplitTexts(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3}));
}

TEST(MapPlanTest, AnyScoresAreSplit) {
  Random random(43);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<double> choice, asked;
    for (std::uint64_t i = 8 + random.Below(30); i > 0; --i) {
      choice.push_back(static_cast<double>(random.Below(2001)) - 1000);
      asked.push_back(random.Below(4) == 0 ? 0.0 : static_cast<double>(random.Below(100)) * 1e-6);
    }
    const auto groups = SplitTexts(choice, asked);
    if (!groups) continue;
    ASSERT_EQ(groups->labels.size(), choice.size());
    EXPECT_GE(groups->unsure, 0);
    EXPECT_LE(groups->unsure, 0.5);
  }
}

}  // namespace
}  // namespace dossier::ask
