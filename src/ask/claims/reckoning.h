// Whether the numbers of an answer stand on what was shown: as they are, rounded, in another unit,
// or reckoned from it.
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

// What may ground the numbers of an answer besides what was shown.
struct Known {
  std::string_view question;
  std::string_view sizes;        // of the data
  std::string_view description;  // of the data: it tells what its numbers are counted in
};

// Whether the number that `answer` gives is grounded in `shown`: its first one, where those of
// question and sizes say nothing for or against it. Besides what stands there, as CheckGrounded
// takes it, the length of a printed list counts, and the sum, difference, product or quotient of
// two numbers of an output that has at most four (two, if the answer has under three digits), of one
// of its few sentences or with names that question and answer give, or of one of them and one of the
// question; shares of all rows, and times between two; and what was shown in another unit or form.
// True for an answer without such numbers, if one of its numbers stands in `shown` or the question,
// or it has none.
bool LeadingNumberGrounded(std::string_view answer, const Known& known,
                           std::span<const std::string> shown);

// The first number of `answer` that is not grounded so, with the numeral behind it; empty if all
// are. Those that are count with the question's for the others: their sums, differences and shares.
std::string UnshownNumber(std::string_view answer, const Known& known,
                          std::span<const std::string> shown);

// The first number of `answer` that a numeral makes larger than what was shown, though nothing says
// that this was counted in millions: 1.08 billion for 1.08; empty if there is none.
std::string MisscaledNumber(std::string_view answer, const Known& known,
                            std::span<const std::string> shown);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_CLAIMS_RECKONING_H_
