// Reads numbers from text by value: from answers, from output of code, from passages.
//
//   NumberReader reader("It is 3,800.50, not -2.");
//   while (auto number = reader.Next()) Use(number->Key());  // "3800.5", "-2."
//
// Thread-safety: pure functions over plain data; a reader has one owner.

#ifndef DOSSIER_ASK_CLAIMS_NUMBERS_H_
#define DOSSIER_ASK_CLAIMS_NUMBERS_H_

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/text/ascii.h"

namespace dossier::ask {

// Returns true for a digit, `_`, or a letter of any script (every byte from 0x80 on counts as one).
constexpr bool IsTextByte(char c) {
  return IsAlnum(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// Returns true if a character beyond ASCII is a sign: of money, mathematics or punctuation.
bool IsSign(char32_t c);

// A number by value: "3,800.50" has the digits "3800" and the fraction "5".
struct Number {
  std::string digits;    // without leading zeros, "0" for zero
  std::string fraction;  // without trailing zeros
  bool negative = false;
  std::size_t begin = 0, end = 0;  // byte range in the text

  std::string Key() const {
    const bool zero = digits == "0" && fraction.empty();
    return fmt::format("{}{}.{}", negative && !zero ? "-" : "", digits, fraction);
  }
};

// Reads numbers from text. Digits that follow a letter belong to a name ("libmpc3") and are
// skipped. `text` must outlive the reader.
class NumberReader {
 public:
  explicit NumberReader(std::string_view text) : text_(text) {}
  std::optional<Number> Next();

 private:
  Number Read();
  bool IsPiece() const;
  bool IsMinus() const;
  std::string Digits();
  std::size_t ThousandsMark() const;

  const std::string_view text_;
  std::size_t at_ = 0;
};

// Returns the part of an answer whose numbers and dates are checked: up to its 500th number, and at
// most 64 KiB. A longer answer is a listing made by code; since each of its numbers is searched in
// everything that was shown, checking all of it would take minutes.
std::string_view CheckedPart(std::string_view answer);

// Returns true if `shown` is `exact` rounded or cut off at the precision of `shown`.
bool IsRoundingOf(const Number& shown, const Number& exact);

// Returns true if `shown` is `exact` in thousands, millions or billions, rounded: 4.48 for
// 4,483,145. False for a whole number of one or two digits, which would match by chance.
bool IsScaledRoundingOf(const Number& shown, const Number& exact);

// Reads the number around `number` in `text` with a decimal comma: "16.629,90" is 16629.9. None if
// it has no comma or cannot be read that way.
std::optional<Number> WithDecimalComma(std::string_view text, const Number& number);

// Returns the number as a percentage: "0.03525" gives 3.525.
Number Hundredfold(const Number& number);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_CLAIMS_NUMBERS_H_
