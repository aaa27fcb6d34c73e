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
      // Numbers are compared by exact value and sign.
      {"599", "599", "-599", "-599", false},
      {"-599", "-599", "The change is \u2212599.", "-599", true},
      {"9007199254740992077", "9007199254740992077", "9007199254740992011", "9007199254740992011",
       false},
      {"201625.75", "201625.75", "201700.0", "201700.0", false},
      {"201625.75", "201625.75", "201,625.8", "201625.75", true},
      {"5.0", "5.0", "5", "5", true},
      {"\u201c655\u201d", "655", "655", "655", true},
      {"5\u20ac", "5", "\u20ac5", "5", true},
      {"3'800", "3800", "3800", "3800", true},
      {"\u201cBerg\u201d", "Berg", "Berg", "Berg", true},
      {"68.46", "68.46", "68", "68", false},
      {"\u20ac99", "99", "99", "99", true},
      {"111.25/148.25", "111.25 148.25", "148.25/111.25", "148.25 111.25", false},
      {"Jane 40, Elizabeth 30", "Jane Elizabeth 40 30", "Elizabeth 30 and Jane 40",
       "Elizabeth Jane 40 30", true},
      // A longer name is the same name; a longer list is a different list.
      {"Lund", "Greta Lund", "Greta Lund", "Greta Lund", true},
      {"cust0", "cust0", "cust0, cust1, cust2", "cust0 cust1 cust2", false},
      {"Anna Berg", "Anna Berg", "Anna Berg with Bo Holm", "Anna Berg\nBo Holm", false},
      {"data/notes.md", "data notes.md", "notes.md", "notes.md", true},
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
