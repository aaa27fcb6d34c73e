// Names in an answer that stand nowhere.
//
//   UnseenName("It was Morwenna Tregarth.", question, {"The keeper was a tall woman."}, in_data);
//
// What a name is, is told by its capital letter, in scripts that have them, and only where the
// question does not write ordinary words with capitals, too, as German does. A name has two words.
// Thread-safety: pure functions. Linear in the length of what was shown.

#ifndef DOSSIER_ASK_CLAIMS_NAMES_H_
#define DOSSIER_ASK_CLAIMS_NAMES_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace dossier::ask {

// The first name of `answer` whose last word stands neither in `question` nor in `seen`, and for
// which `in_data` does not speak: it gets the word, folded. Case, marks over letters, endings and
// the order of words do not count; initials that were seen ("US") speak for what they stand for.
std::string UnseenName(std::string_view answer, std::string_view question,
                       std::span<const std::string> seen,
                       const std::function<bool(std::string_view)>& in_data);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_CLAIMS_NAMES_H_
