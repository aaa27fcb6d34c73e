// Stores what was shown of the data for look-ups of numbers and words.
//
//   ShownTexts shown;
//   shown.Add("3.14159, said José");
//   shown.Shows(number);           // 3.14 by value, or rounded
//   shown.ShowsText("Jose");       // case, marks over letters and white space do not count
//
// Thread-safety: as a standard container's.

#ifndef DOSSIER_ASK_CLAIMS_SHOWN_TEXTS_H_
#define DOSSIER_ASK_CLAIMS_SHOWN_TEXTS_H_

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ask/claims/numbers.h"

namespace dossier::ask {

// Returns `text` without case and diacritics, with each run of white space as one blank.
std::string Folded(std::string_view text);

// Returns true if `part` occurs in `text` with no letter or digit next to it. Both must be folded.
bool OccursWhole(std::string_view text, std::string_view part);

// Returns true if a percent sign, or the word in one of several languages, follows the number that
// ends at `end`.
bool IsPercent(std::string_view text, std::size_t end);

// Returns true for a list number at a line start ("2. "): it says nothing about the context.
bool IsListNumber(std::string_view text, const Number& number);

// Returns true if `output` shows that many items in a list, or has that many lines.
bool IsLengthOf(std::string_view output, const Number& wanted);

class ShownTexts {
 public:
  void Add(std::string_view text);

  bool Shows(const Number& number) const;
  // Looks up `number` of `answer`, which may use a decimal comma or thousands and millions ("about
  // 4.48 million"); for a percentage, the printed fraction also counts.
  bool ShowsIn(std::string_view answer, const Number& number) const;
  bool ShowsText(std::string_view text) const;
  bool ShowsWhole(std::string_view folded) const;

 private:
  std::vector<std::string> texts_;  // folded
  std::unordered_set<std::string> keys_;
  std::vector<Number> decimals_, large_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_CLAIMS_SHOWN_TEXTS_H_
