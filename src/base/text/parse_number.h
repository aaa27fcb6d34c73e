// The one reader of numbers that people write: flags, sizes, durations, prices.
//
//   DOSSIER_ASSIGN_OR_RETURN(const double dollars, ParseNumber("0.25"));
//
// Errors: kUsage with the text. Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_PARSE_NUMBER_H_
#define DOSSIER_BASE_TEXT_PARSE_NUMBER_H_

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace dossier {

// The finite number that `text` is, decimal, from its first character to its last: "12", "-0.5",
// "1e3"; not "inf", "nan", "0x10", "+1", " 1", nor what is too large for a double.
Result<double> ParseNumber(std::string_view text);

// A whole number, decimal: "12", "-3"; not "1.5", "1e3", "0x10", nor "010", which some read as 8.
Result<std::int64_t> ParseWhole(std::string_view text);
// The same from 0 up.
Result<std::uint64_t> ParseNatural(std::string_view text);

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_PARSE_NUMBER_H_
