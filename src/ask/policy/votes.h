// Compares the answers of two independent attempts at a question.
//
//   Vote first = MakeVote("Greta Lund placed 655 orders.", "Greta Lund 655\n", question);
//   if (Agree(first, MakeVote(second_answer, second_output, question))) …
//
// A vote is what an answer states: its numbers by value, and those of its words that the attempt's
// code printed and the question does not contain (or the question's words, if it states nothing
// else). Other words do not count.
// Thread-safety: pure functions.

#ifndef DOSSIER_ASK_POLICY_VOTES_H_
#define DOSSIER_ASK_POLICY_VOTES_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ask/claims/numbers.h"

namespace dossier::ask {

struct Vote {
  std::vector<Number> numbers;  // in the answer's order, without duplicates
  std::set<std::string> words;  // lower case
  // The same words grouped as listed in the answer: the words of one item are together.
  std::vector<std::set<std::string>> items;
};

Vote MakeVote(std::string_view answer, std::string_view printed, std::string_view question);

// Returns true if both have the same numbers, and one's words are among the other's. A number
// agrees with its own rounding if both have decimals; whole numbers are counts and must be equal.
// Without words, number order counts, too. Without numbers every item of the longer answer must
// share a word with the shorter one: "Berg" and "Anna Berg" agree, "Anna Berg" and "Anna Berg, Bo
// Holm" do not. Two votes that state nothing do not agree.
bool Agree(const Vote& a, const Vote& b);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_VOTES_H_
