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

namespace dossier::ask {

struct Vote {
  std::set<std::string> numbers;  // whole ones as they are, others to three digits
  std::set<std::string> words;    // lower case
};

Vote MakeVote(std::string_view answer, std::string_view printed, std::string_view question);

// Same numbers, and the words of one among those of the other. Two votes that state nothing do not
// agree.
bool Agree(const Vote& a, const Vote& b);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_VOTES_H_
