// Checks whether the numbers of an answer are supported by what was shown: unchanged, rounded, in
// another unit, or computed from it.
//
//   const Known known{.question = "What do 12 cost?"};
//   UnshownNumber("12 cost 340.50 EUR", known, {"28.375"});   // "": 12 * 28.375
//
// Thread-safety: pure functions. Linear in the length of what was shown.

#ifndef DOSSIER_ASK_CLAIMS_RECKONING_H_
#define DOSSIER_ASK_CLAIMS_RECKONING_H_

#include <span>
#include <string>
#include <string_view>

namespace dossier::ask {

// Texts that may support the numbers of an answer besides what was shown.
struct Known {
  std::string_view question;
  std::string_view sizes;        // of the data
  std::string_view description;  // of the data: tells the units of its numbers
};

// Returns true if the main number of `answer` is supported by `shown`: its first number, ignoring
// those that question and sizes also have. Besides numbers in `shown` (as in CheckGrounded) these
// support it: the length of a printed list; the sum, difference, product or quotient of two numbers
// of an output with at most four (two, if the answer has under three digits), of one of its few
// sentences or with names from question and answer, or of one of them and one of the question;
// shares of all rows; durations between two times; and shown numbers in another unit or form.
// Without a main number it is true if a number of the answer is in `shown` or the question, or if
// it has no numbers.
bool LeadingNumberGrounded(std::string_view answer, const Known& known,
                           std::span<const std::string> shown);

// Returns the first number of `answer` without such support, with the numeral after it; empty if
// there is none. Supported numbers and the question's support others: by sum, difference or share.
std::string UnshownNumber(std::string_view answer, const Known& known,
                          std::span<const std::string> shown);

// Returns the first number of `answer` that a numeral makes larger than what was shown, although
// nothing says that this was counted in millions: 1.08 billion for 1.08; empty if there is none.
std::string MisscaledNumber(std::string_view answer, const Known& known,
                            std::span<const std::string> shown);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_CLAIMS_RECKONING_H_
