// What a cell of text looks like: 42 an integer, 2024-11-02 a date, 007 a string.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_DESCRIPTION_VALUE_TYPE_H_
#define DOSSIER_INSPECT_DESCRIPTION_VALUE_TYPE_H_

#include <optional>
#include <string_view>

#include "inspect/description/description.h"

namespace dossier::inspect {

// Spaces at both ends are not looked at. Leading zeros and 16 or more digits stay strings.
FieldType TypeOfText(std::string_view cell);

// Whether the numerals of a column are numbers, or texts that would lose something as numbers:
//
//   NumeralForms forms;
//   for (const auto cell : {"1.9", "1.10", "1.11"}) forms.Add(cell);
//   forms.AreNumbers() == false;  // versions; 12.50, 7.25 and 9.00 are prices, so numbers
//
// They are texts if one has a leading zero, a plus or more than 15 digits; if decimals differ in
// number and some end with a zero that a number would not keep; if all that speaks for an exponent
// are codes such as 12e5. Other cells are not looked at.
class NumeralForms {
 public:
  void Add(std::string_view cell);
  bool AreNumbers() const;

 private:
  std::size_t fewest_decimals_ = 0, most_decimals_ = 0;  // of cells that have such
  bool padded_ = false, zero_ended_ = false, code_ = false, scientific_ = false;
};

// The value of an integer or a number.
std::optional<double> NumberOfText(std::string_view cell);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_VALUE_TYPE_H_
