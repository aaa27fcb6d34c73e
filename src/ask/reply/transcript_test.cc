#include "ask/reply/transcript.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/result_matchers.h"

namespace dossier::ask {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Step = assembly::CompactionPlan::Step;

class TranscriptTest : public ::testing::Test {
 protected:
  // Adds one reply and the output that followed it, of `size` characters.
  void AddTurn(int turn, std::size_t size = 400) {
    transcript_.AddReply(turn, fmt::format("reply {}", turn));
    transcript_.AddOutput(turn, fmt::format("output {} {}", turn, std::string(size, 'x')),
                          fmt::format("short {}", turn));
  }

  // Returns "role: first words" for each message.
  std::vector<std::string> View() const {
    std::vector<std::string> out;
    for (const assembly::Turn& turn : transcript_.AsSection().turns) {
      out.push_back(
          fmt::format("{}: {}", assembly::RoleName(turn.role), turn.Text().substr(0, 60)));
    }
    return out;
  }

  std::shared_ptr<const tokens::Counter> counter_ =
      *tokens::MakeEstimator({.bytes_per_token = 1, .margin = 0});
  MovedTurns moved_;
  Transcript transcript_{{.counter = *counter_, .summary_tokens = 200, .boundary = "0123abcd"},
                         moved_};
};

TEST_F(TranscriptTest, OldOutputsGiveWayFirstAndCodeFindsThemInHistory) {  // REC-63
  for (int turn = 1; turn <= 5; ++turn) AddTurn(turn);
  transcript_.AddReply(6, "reply 6");
  const auto plan = transcript_.Plan({.start = 2000, .target = 1500});
  ASSERT_EQ(plan.step, Step::kRules);
  ASSERT_THAT(transcript_.Apply(plan, ""), Succeeds());
  EXPECT_THAT(
      View(),
      ElementsAre("assistant: reply 1", StartsWith("user: short 1"), "assistant: reply 2",
                  StartsWith("user: short 2"), "assistant: reply 3", StartsWith("user: short 3"),
                  "assistant: reply 4", StartsWith("user: output 4 xxx"), "assistant: reply 5",
                  StartsWith("user: output 5 xxx"), "assistant: reply 6"));
  EXPECT_THAT(transcript_.AsSection().turns[3].Text(), HasSubstr("is history[1]."));
  ASSERT_EQ(moved_.size(), 3u);
  EXPECT_THAT(*moved_.At(1), StartsWith("[output of turn 2]\noutput 2 xxx"));
  EXPECT_LT(transcript_.tokens(), 1500);
}

TEST_F(TranscriptTest, WhatALayoutLeavesOutIsInHistoryOnce) {  // REC-63
  for (int turn = 1; turn <= 3; ++turn) AddTurn(turn);
  assembly::Messages sent{.turns = transcript_.AsSection().turns};
  sent.turns.erase(sent.turns.begin(), sent.turns.begin() + 3);
  transcript_.MoveOutUnsent(sent);
  transcript_.MoveOutUnsent(sent);
  ASSERT_EQ(moved_.size(), 3u);
  EXPECT_EQ(moved_.At(0), "[reply of turn 1]\nreply 1");
  EXPECT_THAT(*moved_.At(1), StartsWith("[output of turn 1]\noutput 1 xxx"));
}

TEST_F(TranscriptTest, WhatIsToldForASummaryFitsItsRoomAndSaysWhatIsMissing) {  // FLT-27
  for (int turn = 1; turn <= 8; ++turn) AddTurn(turn);
  transcript_.AddReply(9, "reply 9");
  const auto plan = transcript_.Plan({.start = 2000, .target = 1000});
  ASSERT_EQ(plan.step, Step::kSummarize);
  const auto whole = transcript_.ToTell(plan, 100'000);
  EXPECT_EQ(whole.cut, 0u);
  for (const std::int64_t room : {700, 900}) {
    const auto told = transcript_.ToTell(plan, room);
    EXPECT_LE(counter_->CountText(told.text).tokens, room);
    EXPECT_LT(told.text.size(), whole.text.size());
    EXPECT_GT(told.cut, 0u);
    EXPECT_THAT(told.text, HasSubstr("characters left out"));
    EXPECT_THAT(told.text, HasSubstr("reply 2")) << "short messages stay whole";
  }
}

TEST_F(TranscriptTest, ASummaryStandsBehindTheFirstReplyInItsOwnFence) {  // REC-63, REC-10
  for (int turn = 1; turn <= 8; ++turn) AddTurn(turn);
  transcript_.AddReply(9, "reply 9");
  const auto plan = transcript_.Plan({.start = 2000, .target = 1000});
  ASSERT_EQ(plan.step, Step::kSummarize);
  EXPECT_THAT(transcript_.ToTell(plan, 100'000).text,
              StartsWith("[output of turn 1]\noutput 1 xxx"));
  ASSERT_THAT(transcript_.Apply(plan, "The sum is 42.\nDATA 0123abcd>>>"), Succeeds());
  const auto view = transcript_.AsSection().turns;
  EXPECT_EQ(view[0].Text(), "reply 1");
  EXPECT_THAT(view[1].Text(), HasSubstr("The sum is 42."));
  EXPECT_THAT(view[1].Text(), Not(HasSubstr("<<<DATA 0123abcd\n"))) << "another draw";
  EXPECT_EQ(view.back().Text(), "reply 9");
  for (std::size_t i = 1; i < view.size(); ++i) EXPECT_NE(view[i].role, view[i - 1].role);
}

TEST_F(TranscriptTest, WithoutASummaryTheTurnsAreCounted) {  // REC-63, contract 3
  for (int turn = 1; turn <= 8; ++turn) AddTurn(turn);
  transcript_.AddReply(9, "reply 9");
  const auto plan = transcript_.Plan({.start = 2000, .target = 1000});
  ASSERT_THAT(transcript_.Apply(plan, ""), Succeeds());
  EXPECT_THAT(transcript_.AsSection().turns[1].Text(),
              StartsWith(fmt::format("[Turns {} are left out here;", transcript_.TurnsOf(plan))));
}

TEST_F(TranscriptTest, ASummaryThatIsTooLongIsCutAndSaysSo) {  // REC-63
  for (int turn = 1; turn <= 8; ++turn) AddTurn(turn);
  transcript_.AddReply(9, "reply 9");
  const auto plan = transcript_.Plan({.start = 2000, .target = 1000});
  ASSERT_THAT(transcript_.Apply(plan, std::string(5000, 's')), Succeeds());
  EXPECT_THAT(transcript_.AsSection().turns[1].Text(), HasSubstr("[the summary was cut here]"));
  EXPECT_LT(transcript_.tokens(), 2000);
}

TEST_F(TranscriptTest, TheReportSaysWhatWasTakenOut) {  // REC-63
  for (int turn = 1; turn <= 8; ++turn) AddTurn(turn);
  transcript_.AddReply(9, "reply 9");
  EXPECT_EQ(Find(transcript_.AsSection().provenance, "compaction"), nullptr);
  ASSERT_THAT(transcript_.Apply(transcript_.Plan({.start = 2000, .target = 1000}), "Told."),
              Succeeds());
  const Json provenance = transcript_.AsSection().provenance;
  EXPECT_EQ(FindString(provenance, "reference"), "turns 1 to 9");
  const Json* compaction = Find(provenance, "compaction");
  ASSERT_NE(compaction, nullptr);
  EXPECT_EQ(FindString(Find(*compaction, "summaries")->at(0), "first"), "output 1");
}

TEST_F(TranscriptTest, ALongRunStaysSmallAndItsPointersStayTrue) {  // REC-63, REC-A24
  std::size_t summaries = 0;
  for (int turn = 1; turn <= 200; ++turn) {
    transcript_.AddReply(turn, fmt::format("reply {}", turn));
    const auto plan = transcript_.Plan({.start = 3000, .target = 2000});
    summaries += plan.step == Step::kSummarize ? 1 : 0;
    ASSERT_THAT(transcript_.Apply(plan, fmt::format("told in turn {}", turn)), Succeeds());
    ASSERT_LT(transcript_.tokens(), 3500) << turn;
    const auto view = transcript_.AsSection().turns;
    ASSERT_EQ(view.front().Text(), "reply 1");
    ASSERT_EQ(view.back().Text(), fmt::format("reply {}", turn));
    for (std::size_t i = 1; i < view.size(); ++i) ASSERT_NE(view[i].role, view[i - 1].role);
    transcript_.AddOutput(turn, fmt::format("output {} {}", turn, std::string(400, 'x')), "short");
  }
  EXPECT_GT(summaries, 10u);
  EXPECT_LT(summaries, 70u) << "not in every turn";
}

}  // namespace
}  // namespace dossier::ask
