// The one reader of numbers that people write, such as flags and prices, and of times.
//
//   DOSSIER_ASSIGN_OR_RETURN(const double dollars, ParseNumber("0.25"));
//
// Errors: kUsage with the text. What programs write is read by ExactNumber. Thread-safety: pure
// functions.

#ifndef DOSSIER_BASE_TEXT_PARSE_H_
#define DOSSIER_BASE_TEXT_PARSE_H_

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/clock.h"
#include "base/result.h"

namespace dossier {

// The finite number that `text` is, decimal, from its first character to its last: "12", "-0.5",
// "1e3"; not "inf", "nan", "0x10", "+1", " 1", nor what is too large for a double.
Result<double> ParseNumber(std::string_view text);

// A whole number, decimal: "12", "-3"; not "1.5", "1e3", "0x10", nor "010", which some read as 8.
Result<std::int64_t> ParseWhole(std::string_view text);
// The same from 0 up.
Result<std::uint64_t> ParseNatural(std::string_view text);

// The number that all of `text` is, as std::from_chars has it: "007" is 7; none else, or where it
// does not fit `Number`.
template <typename Number>
std::optional<Number> ExactNumber(std::string_view text, int base = 10) {
  Number number{};
  const char* const end = text.data() + text.size();
  std::from_chars_result read{};
  if constexpr (std::is_floating_point_v<Number>) {
    read = std::from_chars(text.data(), end, number);
  } else {
    read = std::from_chars(text.data(), end, number, base);
  }
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

// Dates and times that people and programs write, by RFC 3339.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Clock::Wall now, ParseTime("2026-11-21T23:36:43Z"));
//
// Thread-safety: pure function.

// "2026-11-21T23:36:43Z", with a fraction (kept to microseconds), with "+02:00" for the Z, or with
// a blank for the T. Years 1680 to 2260. Errors: kInvalidArgument with the text.
Result<Clock::Wall> ParseTime(std::string_view text);

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_PARSE_H_
