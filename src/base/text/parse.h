// Parses numbers that people write, such as flags and prices, and times.
//
//   DOSSIER_ASSIGN_OR_RETURN(const double dollars, ParseNumber("0.25"));
//
// Errors: kUsage with the text. For numbers that programs write, use ExactNumber. Thread-safety:
// pure functions.

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

// Parses all of `text` as a finite decimal number: "12", "-0.5", "1e3"; not "inf", "nan", "0x10",
// "+1", " 1", nor a number that is too large for a double.
Result<double> ParseNumber(std::string_view text);

// Parses a whole decimal number: "12", "-3"; not "1.5", "1e3", "0x10", nor "010" (octal to some).
Result<std::int64_t> ParseWhole(std::string_view text);
// The same for numbers from 0 up.
Result<std::uint64_t> ParseNatural(std::string_view text);

// Parses all of `text` as std::from_chars does: "007" is 7. Nothing if it is no number or does not
// fit `Number`.
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

// Parses dates and times that people and programs write, by RFC 3339.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Clock::Wall now, ParseTime("2026-11-21T23:36:43Z"));
//
// Thread-safety: pure function.

// "2026-11-21T23:36:43Z", with a fraction (kept to microseconds), with "+02:00" for the Z, or with
// a blank for the T. Years 1680 to 2260. Errors: kInvalidArgument with the text.
Result<Clock::Wall> ParseTime(std::string_view text);

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_PARSE_H_
