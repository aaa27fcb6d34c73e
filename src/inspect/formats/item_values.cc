// Values that several formats of items write alike.

#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/formats/items.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kLongestAmount = 40;

bool AreDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsDigit);
}

std::string ZoneOf(std::string_view zone) {
  if (zone == "Z" || zone == "GMT" || zone == "UT" || zone == "UTC") return "Z";
  const bool offset =
      zone.size() == 5 && (zone[0] == '+' || zone[0] == '-') && AreDigits(zone.substr(1));
  return offset ? fmt::format("{}:{}", zone.substr(0, 3), zone.substr(3)) : std::string();
}

// 1 for Jan; 0: it is none.
std::size_t MonthOf(std::string_view word) {
  constexpr std::string_view kMonths = "janfebmaraprmayjunjulaugsepoctnovdec";
  if (word.size() < 3) return 0;
  const std::size_t at = kMonths.find(ToLowerAscii(word.substr(0, 3)));
  return at == std::string_view::npos || at % 3 != 0 ? 0 : at / 3 + 1;
}

}  // namespace

std::string IsoOfCompact(std::string_view text) {
  text = TrimSpace(text);
  if (text.size() < 8 || !AreDigits(text.substr(0, 8))) return std::string(text);
  std::string iso =
      fmt::format("{}-{}-{}", text.substr(0, 4), text.substr(4, 2), text.substr(6, 2));
  if (text.size() == 8) return iso;
  const std::string_view zone = text.substr(std::min<std::size_t>(15, text.size()));
  if (text.size() < 15 || text[8] != 'T' || !AreDigits(text.substr(9, 6)) ||
      (!zone.empty() && zone != "Z")) {
    return std::string(text);
  }
  iso +=
      fmt::format("T{}:{}:{}{}", text.substr(9, 2), text.substr(11, 2), text.substr(13, 2), zone);
  return iso;
}

std::string IsoOfMailDate(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  if (text.size() > kLongest) return std::string(text);
  std::string_view day, year, clock, zone;
  std::size_t month = 0;
  for (std::string_view word : Split(text, ' ')) {
    while (word.ends_with(',')) word.remove_suffix(1);
    if (word.empty()) continue;
    if (word.find(':') != std::string_view::npos && IsDigit(word[0])) {
      clock = word;
    } else if (AreDigits(word)) {
      (word.size() <= 2 && day.empty() ? day : year) = word;
    } else if (month == 0 && MonthOf(word) > 0) {
      month = MonthOf(word);
    } else if (zone.empty() && !clock.empty() && !ZoneOf(word).empty()) {
      zone = word;
    }
  }
  // 2024-01-02 10:00:00 +0100
  const std::string_view first = text.substr(0, text.find(' '));
  if (first.size() == 10 && first[4] == '-' && first[7] == '-' && clock.size() == 8) {
    return fmt::format("{}T{}{}", first, clock, ZoneOf(zone));
  }
  const bool whole =
      !day.empty() && month > 0 && year.size() == 4 && (clock.size() == 8 || clock.size() == 5);
  if (!whole) return std::string(text);
  return fmt::format("{}-{:02}-{:0>2}T{}{}{}", year, month, day, clock,
                     clock.size() == 5 ? ":00" : "", ZoneOf(zone));
}

std::string DecodeQuotedPrintable(std::string_view text, Underscores underscores) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '_' && underscores == Underscores::kSpaces) {
      out += ' ';
    } else if (c != '=') {
      out += c;
    } else if (at + 2 < text.size() && IsHexDigit(text[at + 1]) && IsHexDigit(text[at + 2])) {
      out += static_cast<char>(HexValue(text[at + 1]) * 16 + HexValue(text[at + 2]));
      at += 2;
    } else {  // at the end of a line: it goes on
      std::size_t next = at + 1;
      while (next < text.size() && (text[next] == '\r' || IsBlank(text[next]))) ++next;
      if (next == text.size()) break;
      if (text[next] == '\n') {
        at = next;
      } else {
        out += c;
      }
    }
  }
  return out;
}

std::string ToUtf8(std::string text) {
  if (utf8::IsValid(text)) return text;
  std::string out;
  for (const char c : text) utf8::Append(static_cast<unsigned char>(c), &out);
  return out;
}

std::string TakeAmount(std::string_view text, std::string* rest) {
  const std::size_t begin = std::min(text.find_first_of("0123456789"), text.size());
  std::size_t end = begin;
  const auto goes_on = [&] {  // a digit, or a mark in front of one; a space in front of three
    if (IsDigit(text[end])) return true;
    const std::size_t digits =
        std::min(text.find_first_not_of("0123456789", end + 1), text.size()) -
        std::min(end + 1, text.size());
    return text[end] == ' ' ? digits == 3
                            : digits > 0 && std::string_view(".,'").find(text[end]) != text.npos;
  };
  while (end < text.size() && end < begin + kLongestAmount && goes_on()) ++end;
  std::string_view number = text.substr(begin, end - begin);
  std::string before(text.substr(0, begin));
  if (!before.empty() && before.back() == '.') before.pop_back();
  const bool negative = before.find('-') != std::string::npos;
  std::erase_if(before, [](char c) { return c == '-' || c == '+'; });
  *rest = TrimSpace(fmt::format("{} {}", TrimSpace(before), TrimSpace(text.substr(end))));
  if (number.empty()) return {};
  // The last mark parts the decimals, unless it comes again or three digits stand behind a comma.
  const std::size_t mark = number.find_last_of(".,");
  std::string amount = negative ? "-" : "";
  const bool decimals = mark != std::string_view::npos &&
                        std::ranges::count(number, number[mark]) == 1 &&
                        (number[mark] == '.' || number.size() - mark != 4 ||
                         number.find('.') != std::string_view::npos);
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (IsDigit(number[i])) amount += number[i];
    if (decimals && i == mark) amount += '.';
  }
  // As other formats of numbers would lose their zeros, all do.
  if (decimals) amount.resize(amount.find_last_not_of('0') + 1);
  if (amount.ends_with('.')) amount.pop_back();
  return amount;
}

}  // namespace dossier::inspect
