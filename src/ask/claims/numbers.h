// Numbers read out of text, by value: of answers, of what code printed, of passages.
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

// A digit, a letter of any script, or `_`: every byte from 0x80 on counts as one of a letter.
constexpr bool IsTextByte(char c) {
  return IsAlnum(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// Whether a character beyond ASCII is a sign: of money, mathematics or punctuation.
bool IsSign(char32_t c);

// A number by value: "3,800.50" is digits "3800", fraction "5".
struct Number {
  std::string digits;    // without leading zeros, "0" for zero
  std::string fraction;  // without trailing zeros
  bool negative = false;
  std::size_t begin = 0, end = 0;  // bytes of the text

  std::string Key() const {
    const bool zero = digits == "0" && fraction.empty();
    return fmt::format("{}{}.{}", negative && !zero ? "-" : "", digits, fraction);
  }
};

// Reads numbers out of text. Digits that follow a letter belong to a name ("libmpc3") and are none.
// `text` must outlive the reader.
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

// The part of an answer whose numbers and dates are checked: up to its 500th number, and at most
// 64 KiB. A longer one is a listing that code made; each of its numbers is looked for in all that
// was shown, so that the whole of it would take minutes.
std::string_view CheckedPart(std::string_view answer);

// Whether `shown` is `exact` rounded or cut to the places that `shown` has.
bool IsRoundingOf(const Number& shown, const Number& exact);

// Whether `shown` is `exact` in thousands, millions or milliards, rounded: 4.48 for 4,483,145. A
// whole number of one or two digits never is: it would be hit by chance.
bool IsScaledRoundingOf(const Number& shown, const Number& exact);

// The number around `number` in `text` read with a decimal comma: "16.629,90" is 16629.9. None if
// it has no comma or cannot be read so.
std::optional<Number> WithDecimalComma(std::string_view text, const Number& number);

// "0.03525" as a part of a hundred: 3.525.
Number Hundredfold(const Number& number);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_CLAIMS_NUMBERS_H_
