// Detects how a column writes its numbers: 1234.5, 1.234,50 €, 1'234.50, (12.00), 12 %.
//
//   NumeralForms forms;
//   for (const auto cell : {"950,00", "1.234,50"}) forms.Add(cell);
//   forms.mark() == DecimalMark::kComma;
//   PlainNumber("1.234,50", DecimalMark::kComma) == "1234.50";
//
// A lone `1.234` may be 1234 or 1.234: another cell or column of the file has to decide.
// Thread-safety: pure functions; NumeralForms is a value.

#ifndef DOSSIER_INSPECT_DESCRIPTION_NUMBER_STYLE_H_
#define DOSSIER_INSPECT_DESCRIPTION_NUMBER_STYLE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "inspect/description/description.h"

namespace dossier::inspect {

// The reading of lone dots if nothing in the text decides: programs write 1.234 for a number below
// two; a semicolon-separated table may come from a country with a decimal comma.
enum class LoneDots : std::uint8_t { kDecimal, kUndecided };

LoneDots LoneDotsOf(const Description& description);

// Returns true if a cell is exactly one number in some notation.
bool IsNumeral(std::string_view cell);

// Returns the number in digits with a decimal point; empty if `cell` is not a number with that
// mark, or, for kUnknown, is ambiguous.
std::string PlainNumber(std::string_view cell, DecimalMark mark);

// Determines what the numerals of a column have in common, and whether they are numbers, or texts
// that would lose information as numbers:
//
//   NumeralForms forms;
//   for (const auto cell : {"1.9", "1.10", "1.11"}) forms.Add(cell);
//   forms.AreNumbers(DecimalMark::kDot) == false;  // versions; 12.50, 7.25 and 9.00 are prices
//
// They are texts if one has a leading zero, a plus or more than 15 digits; if they differ in the
// number of decimals and some end with a zero that a number would not keep; if the only exponents
// are codes such as 12e5; if no mark fits all of them; if they have different currency signs, or a
// percent sign only on some; if they have equal length and spaces, like phone numbers; if all are
// whole and in brackets, like numbered notes. Other cells are ignored.
class NumeralForms {
 public:
  // Returns true if the cell is a numeral.
  bool Add(std::string_view cell);
  // The decimal mark that the cells prove.
  DecimalMark mark() const;
  bool AreNumbers(DecimalMark mark) const;
  // Returns how the column is written, if not as in JSON. `file` is the mark that other columns
  // prove.
  std::optional<NumberStyle> Style(DecimalMark file, LoneDots lone) const;
  // True if nearly all cells are numerals.
  bool mostly() const { return numerals_ > 0 && numerals_ * 100 >= cells_ * 95; }

  struct Range {
    std::optional<double> min, max;
    bool decimals = false;  // some number is not whole
  };
  const Range& range(DecimalMark mark) const {
    return ranges_[mark == DecimalMark::kComma ? 1 : 0];
  }

 private:
  void AddForm(std::string_view plain);
  void AddUnit(std::string_view unit);

  std::uint64_t cells_ = 0, numerals_ = 0;
  bool can_dot_ = true, can_comma_ = true;  // all numerals are numbers with that mark
  bool separated_ = false;                  // some numeral has a dot or a comma
  bool odd_ = false;                        // some numeral differs from JSON notation
  std::string written_;                     // the longest numeral
  std::array<Range, 2> ranges_;
  std::optional<std::string> unit_;
  bool units_differ_ = false;
  std::size_t shortest_ = 0, longest_ = 0;  // digits
  bool spaced_ = false;
  std::uint64_t bracketed_ = 0;                          // numerals such as (12)
  std::size_t fewest_decimals_ = 0, most_decimals_ = 0;  // of cells with decimals
  bool padded_ = false, plus_ = false, zero_ended_ = false, code_ = false, scientific_ = false;
};

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_NUMBER_STYLE_H_
