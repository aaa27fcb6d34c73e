#include "memory/blocks/ttl.h"

#include <charconv>
#include <chrono>

#include "base/text/parse_time.h"
#include "base/text/text.h"

namespace dossier::memory {
namespace {

constexpr double kMicrosPerSecond = 1e6;
constexpr double kMostSeconds = 100.0 * 366 * 86'400;

std::optional<Ttl> Span(double seconds) {
  if (!(seconds > 0 && seconds <= kMostSeconds)) return std::nullopt;
  return Ttl{.time = static_cast<Micros>(seconds * kMicrosPerSecond)};
}

// Of the unit; 0 for one that is unknown.
double SecondsOf(std::string_view unit) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86'400}, {"w", 604'800}};
  for (const auto& [name, seconds] : kUnits) {
    if (name == unit) return seconds;
  }
  return 0;
}

}  // namespace

std::optional<Ttl> ParseTtl(std::string_view text) {
  text = TrimSpace(text);
  std::uint64_t count = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  if (error == std::errc() && SecondsOf(unit) > 0) {
    return Span(static_cast<double>(count) * SecondsOf(unit));
  }
  const Result<Clock::Wall> at = ParseTime(text);
  if (!at) return std::nullopt;
  const auto since = std::chrono::floor<std::chrono::microseconds>(at->time_since_epoch());
  return Ttl{.kind = Ttl::Kind::kAt, .time = since.count()};
}

std::optional<Ttl> ParseTtl(const Json& value) {
  if (const auto* text = value.if_string()) return ParseTtl(std::string_view(*text));
  if (value.is_number()) return Span(value.to_number<double>());
  return std::nullopt;
}

}  // namespace dossier::memory
