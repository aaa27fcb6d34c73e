#include "ask/claims/numbers.h"

#include <algorithm>

#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::string_view kMinus = "\u2212";  // the mathematical minus sign

// Returns true if the character before byte `at` is a letter that the following number belongs to.
// Currency and mathematical signs, dashes and quotes are not letters, nor are letters of scripts
// without spaces between words (from U+3000 on), next to which a number is separate.
bool LetterEndsAt(std::string_view text, std::size_t at) {
  if (at == 0 || !IsTextByte(text[at - 1]) || IsDigit(text[at - 1])) return false;
  // The T between a date and a time, as in ISO 8601: "2025-03-05T16:14".
  const bool digits = at >= 2 && IsDigit(text[at - 2]) && at + 2 < text.size() && IsDigit(text[at]);
  if (text[at - 1] == 'T' && digits && IsDigit(text[at + 1]) && text[at + 2] == ':') return false;
  std::size_t lead = utf8::FloorBoundary(text, at - 1);
  const char32_t c = utf8::Next(text, &lead);
  return !IsSign(c) && c < 0x3000;
}

// `fraction` rounded to `places`, half up; the caller carries into the whole part.
struct Rounded {
  std::string digits, fraction;
};

Rounded Round(const Number& number, std::size_t places) {
  std::string all = number.digits + number.fraction.substr(0, places);
  const bool up = number.fraction[places] >= '5';
  for (std::size_t i = all.size(); up && i-- > 0;) {
    if (all[i] != '9') {
      ++all[i];
      break;
    }
    all[i] = '0';
    if (i == 0) all.insert(0, "1");
  }
  Rounded rounded{.digits = all.substr(0, all.size() - places),
                  .fraction = all.substr(all.size() - places)};
  rounded.fraction.resize(rounded.fraction.find_last_not_of('0') + 1);
  return rounded;
}

}  // namespace

bool IsSign(char32_t c) {
  const bool latin =
      (c >= 0x80 && c < 0xC0 && c != 0xAA && c != 0xB5 && c != 0xBA) || c == 0xD7 || c == 0xF7;
  return latin || (c >= 0x2000 && c < 0x2C00);
}

std::optional<Number> NumberReader::Next() {
  while (at_ < text_.size()) {
    if (!IsDigit(text_[at_])) {
      ++at_;
    } else if (LetterEndsAt(text_, at_)) {
      while (at_ < text_.size() && IsTextByte(text_[at_])) ++at_;
    } else {
      return Read();
    }
  }
  return std::nullopt;
}

Number NumberReader::Read() {
  Number number;
  number.begin = at_;
  number.negative = IsMinus();
  std::string digits = Digits();
  if (digits.size() <= 3) {
    while (const std::size_t mark = ThousandsMark()) {
      at_ += mark;
      digits += Digits();
    }
  }
  if (at_ + 1 < text_.size() && text_[at_] == '.' && IsDigit(text_[at_ + 1]) && !IsPiece()) {
    ++at_;
    number.fraction = Digits();
    number.fraction.resize(number.fraction.find_last_not_of('0') + 1);
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  number.digits = std::move(digits);
  number.end = at_;
  return number;
}

// Returns true for a part of a version, address or date (1.2.3); parts are compared one by one.
bool NumberReader::IsPiece() const {
  std::size_t first = at_;
  while (first > 0 && IsDigit(text_[first - 1])) --first;
  if (first > 0 && text_[first - 1] == '.') return true;
  std::size_t next = at_ + 1;
  while (next < text_.size() && IsDigit(text_[next])) ++next;
  return next + 1 < text_.size() && text_[next] == '.' && IsDigit(text_[next + 1]);
}

// Returns true for a minus sign, not the dash in "2026-11-21" or "a-1".
bool NumberReader::IsMinus() const {
  if (text_.substr(0, at_).ends_with(kMinus)) return true;
  if (at_ == 0 || text_[at_ - 1] != '-') return false;
  return at_ < 2 ||
         !(IsDigit(text_[at_ - 2]) || LetterEndsAt(text_, at_ - 1) || text_[at_ - 2] == '-');
}

std::string NumberReader::Digits() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
  return std::string(text_.substr(begin, at_ - begin));
}

// Returns the bytes of a thousands separator (a comma, an underscore, an apostrophe or a
// non-breaking space before exactly three digits); 0 if there is none.
std::size_t NumberReader::ThousandsMark() const {
  static constexpr std::string_view kMarks[] = {",", "_", "'", "\u2019", "\u00A0", "\u202F"};
  const std::string_view rest = text_.substr(at_);
  for (const std::string_view mark : kMarks) {
    if (!rest.starts_with(mark)) continue;
    const std::string_view three = rest.substr(mark.size(), 3);
    const bool digits = three.size() == 3 && std::ranges::all_of(three, IsDigit);
    const std::size_t end = mark.size() + 3;
    return digits && (end >= rest.size() || !IsDigit(rest[end])) ? mark.size() : 0;
  }
  return 0;
}

std::optional<Number> WithDecimalComma(std::string_view text, const Number& number) {
  std::size_t begin = number.begin, end = number.end;
  const auto belongs = [&](std::size_t at) {
    return IsDigit(text[at]) || text[at] == '.' || text[at] == ',';
  };
  while (begin > 0 && belongs(begin - 1)) --begin;
  while (end < text.size() && belongs(end)) ++end;
  while (end > begin && !IsDigit(text[end - 1])) --end;
  std::string turned(text.substr(begin, end - begin));
  const std::size_t comma = turned.find(',');
  if (comma == std::string::npos) return std::nullopt;
  // "3,800" is three thousand eight hundred unless something else indicates otherwise.
  if (turned.find('.') == std::string::npos && turned.size() - comma == 4) return std::nullopt;
  for (char& c : turned) c = c == ',' ? '.' : c == '.' ? ',' : c;
  NumberReader reader(turned);
  auto read = reader.Next();
  if (!read || read->end != turned.size()) return std::nullopt;
  read->negative = number.negative;
  read->begin = begin;
  read->end = end;
  return read;
}

std::string_view CheckedPart(std::string_view answer) {
  constexpr std::size_t kMostNumbers = 500, kMostBytes = 64u << 10;
  if (answer.size() > kMostBytes) {
    answer = answer.substr(0, utf8::FloorBoundary(answer, kMostBytes));
    // A number must not be cut in two.
    answer = answer.substr(0, answer.find_last_of(" \n"));
  }
  NumberReader reader(answer);
  for (std::size_t n = 1; const auto number = reader.Next(); ++n) {
    if (n < kMostNumbers) continue;
    // The text after the last number may be its unit.
    return answer.substr(0, answer.find_first_of("0123456789", number->end));
  }
  return answer;
}

// Returns true if `shown` is `exact` rounded or cut off at the precision of `shown`.
bool IsRoundingOf(const Number& shown, const Number& exact) {
  const std::size_t places = shown.fraction.size();
  if (exact.fraction.size() <= places || shown.negative != exact.negative) return false;
  const bool cut = exact.digits == shown.digits && exact.fraction.starts_with(shown.fraction);
  if (cut && places > 0) return true;
  const Rounded rounded = Round(exact, places);
  return rounded.digits == shown.digits && rounded.fraction == shown.fraction;
}

bool IsScaledRoundingOf(const Number& shown, const Number& exact) {
  const bool is_short = shown.fraction.empty() && shown.digits.size() < 3;
  if (is_short || shown.negative != exact.negative) return false;
  for (std::size_t places = 3; places <= 9 && places < exact.digits.size(); places += 3) {
    Number scaled = exact;
    scaled.fraction = exact.digits.substr(exact.digits.size() - places) + exact.fraction;
    scaled.fraction.resize(scaled.fraction.find_last_not_of('0') + 1);
    scaled.digits.resize(exact.digits.size() - places);
    if (scaled.Key() == shown.Key() || IsRoundingOf(shown, scaled)) return true;
  }
  return false;
}

// Returns the number as a percentage: "0.03525" gives 3.525.
Number Hundredfold(const Number& number) {
  Number out = number;
  std::string fraction = number.fraction;
  fraction.resize(std::max<std::size_t>(fraction.size(), 2), '0');
  out.digits += fraction.substr(0, 2);
  out.digits.erase(0, std::min(out.digits.find_first_not_of('0'), out.digits.size() - 1));
  out.fraction = fraction.substr(2);
  return out;
}

}  // namespace dossier::ask
