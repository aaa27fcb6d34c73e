#include "ask/policy/votes.h"

#include <gtest/gtest.h>

namespace dossier::ask {
namespace {

constexpr std::string_view kQuestion = "Which customer placed the most orders, and how many?";

TEST(VotesTest, WhatIsStatedDecidesNotTheWordsAroundIt) {  // small-models 10
  struct Case {
    std::string_view a, printed_a, b, printed_b;
    bool agree;
  };
  constexpr Case kCases[] = {
      {"Greta Lund, 655", "Greta Lund 655", "It was Greta Lund with 655 orders.", "Greta Lund 655",
       true},
      {"Greta Lund, 655", "Greta Lund 655", "Farid Haddad, 3000", "Farid Haddad 3000", false},
      {"Greta Lund, 655", "Greta Lund 655", "Farid Haddad, 655", "Farid Haddad 655", false},
      {"3,800", "3800", "The count is 3800.", "3800", true},
      {"82.58130311", "82.58130311", "82.6", "82.5813", true},
      {"655", "655", "656", "656", false},
      {"desk", "desk", "The product desk.", "desk", true},
      {"desk", "desk", "lamp", "lamp", false},
      {"nothing", "", "nothing", "", false},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Agree(MakeVote(c.a, c.printed_a, kQuestion), MakeVote(c.b, c.printed_b, kQuestion)),
              c.agree)
        << c.a << " / " << c.b;
  }
}

TEST(VotesTest, AChoiceOfTheQuestionIsAnAnswer) {  // FLT-36
  constexpr std::string_view kChoice = "Is the key in the shed or in the kitchen?";
  const auto vote = [&](std::string_view answer) { return MakeVote(answer, answer, kChoice); };
  EXPECT_TRUE(Agree(vote("kitchen"), vote("In the kitchen.")));
  EXPECT_FALSE(Agree(vote("kitchen"), vote("shed")));
}

TEST(VotesTest, AgreementDoesNotDependOnOrder) {
  const Vote a = MakeVote("Greta Lund, 655", "Greta Lund 655", kQuestion);
  const Vote b = MakeVote("655", "655", kQuestion);
  EXPECT_EQ(Agree(a, b), Agree(b, a));
}

}  // namespace
}  // namespace dossier::ask
