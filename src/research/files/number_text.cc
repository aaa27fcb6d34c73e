#include "research/files/number_text.h"

#include <fmt/format.h>

#include <cmath>

namespace dossier::research {
namespace {

constexpr double kWholePartEnough = 1000;  // four digits stand before the point
constexpr double kMostDigits = 1e15;       // above it a whole number has digits that mean nothing
constexpr double kLeastUsd = 0.01;         // below it four decimals are fewer than two digits

}  // namespace

std::string NumberText(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "N/A";
}

std::string RoundedText(double value) {
  std::string exact = NumberText(value);
  const double size = std::fabs(value);
  if (!std::isfinite(value) || size >= kMostDigits) return exact;
  std::string rounded =
      size >= kWholePartEnough ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
  return rounded.size() < exact.size() ? rounded : exact;
}

std::string SecondsText(double seconds) { return RoundedText(seconds) + " s"; }

std::string UsdText(double usd) {
  return usd == 0 || usd >= kLeastUsd ? fmt::format("{:.4f}", usd) : fmt::format("{:.2g}", usd);
}

}  // namespace dossier::research
