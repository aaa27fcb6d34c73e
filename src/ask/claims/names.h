// Finds names in an answer that occur nowhere.
//
//   UnseenName("It was Morwenna Tregarth.", question, {"The keeper was a tall woman."}, in_data);
//
// A name is recognized by its capital letter, in scripts that have them, and only if the question
// does not also capitalize ordinary words, as German does. A name has two words. Thread-safety:
// pure functions. Linear in the length of what was shown.

#ifndef DOSSIER_ASK_CLAIMS_NAMES_H_
#define DOSSIER_ASK_CLAIMS_NAMES_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace dossier::ask {

// Returns the first name of `answer` whose last word is neither in `question` nor in `seen` and
// that `in_data`, called with the case-folded word, does not confirm. Case, diacritics, endings and
// word order are ignored; initials that were seen ("US") confirm what they stand for.
std::string UnseenName(std::string_view answer, std::string_view question,
                       std::span<const std::string> seen,
                       const std::function<bool(std::string_view)>& in_data);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_CLAIMS_NAMES_H_
