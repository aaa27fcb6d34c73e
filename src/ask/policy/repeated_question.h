// Detects a prompt that only repeats the question: small models pass their own question on, and the
// model that gets it, without any data, invents an answer (small-models.md 14).
//
//   if (RepeatsQuestion("What is the largest package?", question)) Refuse();
//
// Thread-safety: a pure function.

#ifndef DOSSIER_ASK_POLICY_REPEATED_QUESTION_H_
#define DOSSIER_ASK_POLICY_REPEATED_QUESTION_H_

#include <string_view>

namespace dossier::ask {

// Returns true if `prompt` is at most twice as long as `question` and three of four of its words
// are in `question`, in any case. Words under four bytes, mostly "the" and "how", do not count.
bool RepeatsQuestion(std::string_view prompt, std::string_view question);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_REPEATED_QUESTION_H_
