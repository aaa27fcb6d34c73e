#include "cli/tree/usage_message.h"

#include <charconv>
#include <optional>

#include "base/text/text.h"

namespace dossier::cli {
namespace {

constexpr double kNoBound = 1e300;  // CLI11 bounds "any positive number" by the largest double

std::optional<double> Number(std::string_view text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string UsageMessage(std::string_view parser_message) {
  constexpr std::string_view kValue = ": Value ", kRange = " not in range ", kTo = " to ";
  const auto value = parser_message.find(kValue);
  const auto range = parser_message.find(kRange);
  const auto to = parser_message.rfind(kTo);
  if (value == std::string_view::npos || range == std::string_view::npos || value > range ||
      to == std::string_view::npos || to < range) {
    return std::string(parser_message);
  }
  const std::string_view flag = parser_message.substr(0, value);
  const std::string_view given =
      parser_message.substr(value + kValue.size(), range - value - kValue.size());
  const auto low = Number(parser_message.substr(range + kRange.size(), to - range - kRange.size()));
  const auto high = Number(parser_message.substr(to + kTo.size()));
  if (!low || !high) return std::string(parser_message);
  const bool bounded = *high < kNoBound;
  if (!Number(given)) return fmt::format("{}: {} is no number", flag, given);
  if (!bounded) return fmt::format("{}: {} is too small", flag, given);
  return fmt::format("{}: {} is not between {:g} and {:g}", flag, given, *low, *high);
}

}  // namespace dossier::cli
