#include "ask/policy/ballot.h"

#include <gtest/gtest.h>

namespace dossier::ask {
namespace {

using Chance = Ballot::Chance;
using End = Ballot::End;

constexpr std::string_view kCountQuestion = "How many are there?";

Offer Answer(std::string text, std::string doubt = "") {
  return {.text = std::move(text), .source = Source::kFinal, .doubt = std::move(doubt)};
}

std::string Counted(Ballot& ballot, Offer offer, Chance chance = Chance::kMore) {
  const std::string printed = offer.text;
  const auto decided = ballot.Count(std::move(offer), printed, chance);
  return decided ? decided->text : "(open)";
}

TEST(BallotTest, WithOneVoteTheFirstAnswerCounts) {  // SML-10
  Ballot ballot(1, std::string(kCountQuestion));
  EXPECT_EQ(Counted(ballot, Answer("7")), "7");
  EXPECT_EQ(ballot.end(), End::kAgreed);
}

TEST(BallotTest, TwoAttemptsThatAgreeDecide) {  // SML-10
  Ballot ballot(3, std::string(kCountQuestion));
  EXPECT_EQ(Counted(ballot, Answer("7")), "(open)");
  EXPECT_EQ(Counted(ballot, Answer("8")), "(open)");
  EXPECT_EQ(Counted(ballot, Answer("It is 8.")), "8");
  EXPECT_EQ(ballot.end(), End::kAgreed);
}

TEST(BallotTest, WithoutAgreementTheFirstSoundAnswerStands) {  // SML-10, REC-40
  Ballot ballot(3, std::string(kCountQuestion));
  EXPECT_EQ(Counted(ballot, Answer("7", "No output shows 7.")), "(open)");
  EXPECT_EQ(Counted(ballot, Answer("8")), "(open)");
  EXPECT_EQ(Counted(ballot, Answer("9")), "8");
  EXPECT_EQ(ballot.end(), End::kDisagreed);
}

TEST(BallotTest, TwoDoubtfulAnswersDoNotOutvoteASoundOne) {  // SML-10, REC-40
  Ballot ballot(3, std::string(kCountQuestion));
  EXPECT_EQ(Counted(ballot, Answer("7")), "(open)");
  EXPECT_EQ(Counted(ballot, Answer("8", "No output shows 8.")), "(open)");
  EXPECT_EQ(Counted(ballot, Answer("8", "No output shows 8.")), "7");
  EXPECT_EQ(ballot.end(), End::kDisagreed);
}

TEST(BallotTest, IfAllAreDoubtfulTheFirstStands) {  // SML-10
  Ballot ballot(2, std::string(kCountQuestion));
  EXPECT_EQ(Counted(ballot, Answer("7", "invented")), "(open)");
  EXPECT_EQ(Counted(ballot, Answer("8", "invented")), "7");
}

TEST(BallotTest, TheLastChanceDoesNotOverrideEarlierAnswers) {  // SML-10, REC-60
  Ballot ballot(3, std::string(kCountQuestion));
  EXPECT_EQ(Counted(ballot, Answer("7")), "(open)");
  EXPECT_EQ(Counted(ballot, Answer("8"), Chance::kLast), "7");
  EXPECT_EQ(ballot.end(), End::kCutShort);
  Ballot alone(3, std::string(kCountQuestion));
  EXPECT_EQ(Counted(alone, Answer("8"), Chance::kLast), "8");
}

}  // namespace
}  // namespace dossier::ask
