// What was shown of the data, ready for look-ups of numbers and words.
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

// Without case and marks over letters, runs of white space as one blank.
std::string Folded(std::string_view text);

// Whether `part` occurs in `text` with no letter or digit next to it. Both folded.
bool OccursWhole(std::string_view text, std::string_view part);

// Whether a per cent sign, or the word in one of several languages, stands behind the number that
// ends at `end`.
bool IsPercent(std::string_view text, std::size_t end);

// The number of a list item at the start of a line ("2. ") says nothing about the context.
bool IsListNumber(std::string_view text, const Number& number);

// Whether `output` shows as many items in a list, or has as many lines.
bool IsLengthOf(std::string_view output, const Number& wanted);

class ShownTexts {
 public:
  void Add(std::string_view text);

  bool Shows(const Number& number) const;
  // `number` stands in `answer`, which may write it with a decimal comma or in thousands and
  // millions ("about 4.48 million"); of a percentage the share may have been printed.
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
