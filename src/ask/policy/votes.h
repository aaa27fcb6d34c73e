// Whether two independent attempts at a question came to the same answer.
//
//   Vote first = MakeVote("Greta Lund placed 655 orders.", "Greta Lund 655\n", question);
//   if (Agree(first, MakeVote(second_answer, second_output, question))) …
//
// What an answer states: its numbers by value, and those of its words that the attempt's code
// printed and the question does not already hold; words of the question, if it states nothing else.
// The words around them do not count.
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
  std::vector<Number> numbers;  // in the order of the answer, each value once
  std::set<std::string> words;  // lower case
  // The same words as the answer lists them: words of one item stand beside each other.
  std::vector<std::set<std::string>> items;
};

Vote MakeVote(std::string_view answer, std::string_view printed, std::string_view question);

// Same numbers, and the words of one among those of the other. A number agrees with its own
// rounding where both have decimals; whole numbers are counts and must be equal. Without words
// their order counts, too. Without numbers every item of the longer answer must share a word with
// the shorter one: "Berg" and "Anna Berg" agree, "Anna Berg" and "Anna Berg, Bo Holm" do not. Two
// votes that state nothing do not agree.
bool Agree(const Vote& a, const Vote& b);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_VOTES_H_
