#include "base/text/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

#include "base/text/ascii.h"
#include "base/text/parse.h"

namespace dossier {
namespace {

// Two swapped neighbours count as one slip, a common typing error.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

struct Unit {
  std::string_view suffix;
  double factor;
};

// Reads the number before one of `units`; without a unit, the first one is meant.
Result<double> ParseWithUnit(std::string_view text, std::span<const Unit> units,
                             std::string_view example) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string unit_name = ToLowerAscii(text.substr(digits));
  if (const auto number = ParseNumber(text.substr(0, digits))) {
    for (const Unit& unit : units) {
      if (unit_name == unit.suffix) return *number * unit.factor;
    }
  }
  return MakeError(ErrorCode::kUsage, "{}: not understood; write it like {}", text, example);
}

// Above it, a current time plus a duration overflows 64 bits of nanoseconds.
constexpr double kLongestDuration = 36'525.0 * 86'400'000;  // ms: a hundred years
constexpr double kLargestSize = 1ull << 60;                 // bytes

}  // namespace

std::string GroupDigits(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string GroupCount(std::int64_t number) {
  return GroupDigits(static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0)));
}

std::string Counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", GroupDigits(number), noun, number == 1 ? "" : "s");
}

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view FirstLine(std::string_view text) {
  text = TrimSpace(text);
  return TrimSpace(text.substr(0, text.find_first_of("\r\n")));
}

std::string ToLowerAscii(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string Join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != parts.data()) out += separator;
    out += part;
  }
  return out;
}

std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  if (from.empty()) return std::string(text);
  while (true) {
    const auto at = text.find(from);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += to;
    text.remove_prefix(at + from.size());
  }
}

std::string ShellQuote(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return IsAlnum(c) || std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
  });
  if (plain && !text.empty()) return std::string(text);
  return "'" + ReplaceAll(text, "'", R"('"'"')") + "'";
}

namespace {

// The value of each byte as a digit of base64; -1: none.
constexpr std::array<signed char, 256> Base64Values() {
  std::array<signed char, 256> values{};
  values.fill(-1);
  for (int i = 0; i < 26; ++i) {
    values[static_cast<std::size_t>('A' + i)] = static_cast<signed char>(i);
    values[static_cast<std::size_t>('a' + i)] = static_cast<signed char>(26 + i);
  }
  for (int i = 0; i < 10; ++i) {
    values[static_cast<std::size_t>('0' + i)] = static_cast<signed char>(52 + i);
  }
  values['+'] = values['-'] = 62;
  values['/'] = values['_'] = 63;
  return values;
}

}  // namespace

bool AppendBase64(std::string_view text, std::string* bytes, Strays strays) {
  static constexpr auto kValues = Base64Values();
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  std::uint32_t bits = 0;
  int held = 0;
  std::size_t digits = 0;
  for (const char c : text) {
    const int value = kValues[static_cast<unsigned char>(c)];
    if (value < 0 && strays == Strays::kRefused) return false;
    if (value < 0) continue;
    ++digits;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    *bytes += static_cast<char>(bits >> held & 0xFFu);
  }
  return digits % 4 != 1;
}

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

namespace {

// Returns true if the letters of `name` occur in `whole` in this order, beginning with its first,
// as "deps" in "dependencies".
bool IsAbbreviation(std::string_view name, std::string_view whole) {
  constexpr std::size_t kLeast = 3;  // letters
  if (name.size() < kLeast || whole.empty() || name.front() != whole.front()) return false;
  for (const char c : whole) {
    if (!name.empty() && name.front() == c) name.remove_prefix(1);
  }
  return name.empty();
}

}  // namespace

std::vector<std::string> NearestNames(std::string_view name, std::span<const std::string> names,
                                      std::size_t count) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  const std::string wanted = ToLowerAscii(name);
  for (const std::string& candidate : names) {
    const std::size_t distance = EditDistance(wanted, ToLowerAscii(candidate));
    if (distance * 5 <= 2 * std::max(wanted.size(), candidate.size()) ||
        IsAbbreviation(wanted, ToLowerAscii(candidate))) {
      ranked.emplace_back(distance, candidate);
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (auto& [distance, candidate] : ranked) {
    if (out.size() == count) break;
    out.push_back(std::move(candidate));
  }
  return out;
}

Result<std::uint64_t> ParseSize(std::string_view text) {
  constexpr Unit kUnits[] = {{"", 1},           {"b", 1},          {"k", 1024},
                             {"kb", 1024},      {"m", 1048576},    {"mb", 1048576},
                             {"g", 1073741824}, {"gb", 1073741824}};
  DOSSIER_ASSIGN_OR_RETURN(const double bytes, ParseWithUnit(text, kUnits, "500, 64K, 10M or 2G"));
  if (bytes > kLargestSize) {
    return MakeError(ErrorCode::kUsage, "{}: too large; the most is 1073741824G", text);
  }
  return static_cast<std::uint64_t>(bytes);
}

Result<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  constexpr Unit kUnits[] = {{"", 1000},     {"ms", 1},      {"s", 1000},    {"m", 60000},
                             {"min", 60000}, {"h", 3600000}, {"d", 86400000}};
  DOSSIER_ASSIGN_OR_RETURN(const double millis,
                           ParseWithUnit(text, kUnits, "300ms, 60s, 10m or 30d"));
  if (millis > kLongestDuration) {
    return MakeError(ErrorCode::kUsage, "{}: too long; the most is 36525d", text);
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(millis));
}

std::string FormatSize(std::uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace dossier
