#include "inspect/description/value_type.h"

#include <algorithm>
#include <charconv>

#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMaxDigits = 15;  // more would lose precision in a double

std::size_t Digits(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && IsDigit(text[count])) ++count;
  return count;
}

// Removes `count` digits with a value from `low` to `high` from the front of `text`.
bool TakeNumber(std::string_view* text, std::size_t count, int low, int high) {
  if (Digits(text->substr(0, count)) != count) return false;
  int value = 0;
  std::from_chars(text->data(), text->data() + count, value);
  text->remove_prefix(count);
  return value >= low && value <= high;
}

bool TakeByte(std::string_view* text, char c) {
  if (!text->starts_with(c)) return false;
  text->remove_prefix(1);
  return true;
}

bool TakeDate(std::string_view* text) {
  std::string_view rest = *text;
  for (const char separator : {'-', '/'}) {  // 2024-11-02, 2024/11/02
    rest = *text;
    if (TakeNumber(&rest, 4, 0, 9999) && TakeByte(&rest, separator) &&
        TakeNumber(&rest, 2, 1, 12) && TakeByte(&rest, separator) && TakeNumber(&rest, 2, 1, 31)) {
      *text = rest;
      return true;
    }
  }
  for (const char separator : {'/', '.'}) {  // 02.11.2024, 11/02/2024
    rest = *text;
    if (TakeNumber(&rest, 2, 1, 31) && TakeByte(&rest, separator) && TakeNumber(&rest, 2, 1, 31) &&
        TakeByte(&rest, separator) && TakeNumber(&rest, 4, 0, 9999)) {
      *text = rest;
      return true;
    }
  }
  return false;
}

// Accepts HH:MM, HH:MM:SS, HH:MM:SS.fff, each with Z or an offset.
bool IsTime(std::string_view text) {
  if (!TakeNumber(&text, 2, 0, 24) || !TakeByte(&text, ':') || !TakeNumber(&text, 2, 0, 59)) {
    return false;
  }
  if (TakeByte(&text, ':')) {
    if (!TakeNumber(&text, 2, 0, 60)) return false;
    if (text.starts_with('.') || text.starts_with(',')) {
      text.remove_prefix(1);
      const std::size_t digits = Digits(text);
      if (digits == 0) return false;
      text.remove_prefix(digits);
    }
  }
  if (text.empty() || text == "Z" || text == " UTC") return true;
  if (!TakeByte(&text, '+') && !TakeByte(&text, '-')) return false;
  if (!TakeNumber(&text, 2, 0, 14)) return false;
  TakeByte(&text, ':');
  return text.empty() || (TakeNumber(&text, 2, 0, 59) && text.empty());
}

FieldType NumberType(std::string_view text) {
  TakeByte(&text, '-');
  const std::size_t whole = Digits(text);
  if (whole == 0 || whole > kMaxDigits || (whole > 1 && text.front() == '0')) {
    return FieldType::kString;
  }
  text.remove_prefix(whole);
  if (text.empty()) return FieldType::kInteger;
  if (TakeByte(&text, '.')) {
    const std::size_t fraction = Digits(text);
    if (fraction == 0) return FieldType::kString;
    text.remove_prefix(fraction);
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (!TakeByte(&text, '+')) TakeByte(&text, '-');
    const std::size_t exponent = Digits(text);
    if (exponent == 0 || exponent > 3) return FieldType::kString;
    text.remove_prefix(exponent);
  }
  return text.empty() ? FieldType::kNumber : FieldType::kString;
}

}  // namespace

FieldType TypeOfText(std::string_view cell) {
  constexpr std::size_t kLongest = 40;  // for all types except strings
  std::string_view text = TrimSpace(cell);
  if (text.empty()) return FieldType::kEmpty;
  if (text.size() > kLongest) return FieldType::kString;
  const FieldType number = NumberType(text);
  if (number != FieldType::kString) return number;
  const std::string lower = ToLowerAscii(text);
  if (lower == "true" || lower == "false") return FieldType::kBoolean;
  if (!TakeDate(&text)) return FieldType::kString;
  if (text.empty()) return FieldType::kDate;
  if (!TakeByte(&text, 'T') && !TakeByte(&text, ' ')) return FieldType::kString;
  return IsTime(text) ? FieldType::kDatetime : FieldType::kString;
}

std::optional<double> NumberOfText(std::string_view cell) {
  return ExactNumber<double>(TrimSpace(cell));
}

}  // namespace dossier::inspect
