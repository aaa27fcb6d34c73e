#include "base/text/parse_number.h"

#include <charconv>
#include <cmath>

namespace dossier {
namespace {

template <typename Number>
Result<Number> ParseDigits(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc::result_out_of_range) {
    return MakeError(ErrorCode::kUsage, "{} is too large", text);
  }
  if (read.ec == std::errc() && read.ptr == end && (digits.size() == 1 || digits[0] != '0')) {
    return number;
  }
  return MakeError(ErrorCode::kUsage, "{} is no whole number", text);
}

}  // namespace

Result<double> ParseNumber(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc() && read.ptr == end && std::isfinite(number)) return number;
  return MakeError(ErrorCode::kUsage, "{} is no number", text);
}

Result<std::int64_t> ParseWhole(std::string_view text) { return ParseDigits<std::int64_t>(text); }

Result<std::uint64_t> ParseNatural(std::string_view text) {
  if (text.starts_with('-')) return MakeError(ErrorCode::kUsage, "{} is below 0", text);
  return ParseDigits<std::uint64_t>(text);
}

}  // namespace dossier
