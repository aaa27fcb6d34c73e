#include "recursion/grounding.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <vector>

#include "base/text.h"

namespace dossier::recursion {
namespace {

constexpr std::size_t kLeastQuote = 2;  // bytes; shorter quotes are marks, not evidence

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// A number by value: "3,800.50" is digits "3800", fraction "5".
struct Number {
  std::string digits;    // without leading zeros, "0" for zero
  std::string fraction;  // without trailing zeros
  bool negative = false;
  std::size_t begin = 0, end = 0;  // bytes of the text

  std::string Key() const {
    const bool zero = digits == "0" && fraction.empty();
    return fmt::format("{}{}.{}", negative && !zero ? "-" : "", digits, fraction);
  }
};

// Reads numbers out of text. Digits that follow a letter belong to a name ("libmpc3") and are none.
class NumberReader {
 public:
  explicit NumberReader(std::string_view text) : text_(text) {}

  std::optional<Number> Next() {
    while (at_ < text_.size()) {
      if (!IsDigit(text_[at_])) {
        ++at_;
      } else if (BehindLetter()) {
        SkipName();
      } else {
        return Read();
      }
    }
    return std::nullopt;
  }

 private:
  // A letter of a script that writes words without spaces (three bytes from U+3000 on) is none: a
  // number stands beside it.
  bool BehindLetter() const {
    if (at_ == 0 || !IsLetter(text_[at_ - 1])) return false;
    std::size_t lead = at_ - 1;
    while (lead > 0 && (static_cast<unsigned char>(text_[lead]) & 0xC0) == 0x80) --lead;
    return static_cast<unsigned char>(text_[lead]) < 0xE3;
  }

  void SkipName() {
    while (at_ < text_.size() && (IsDigit(text_[at_]) || IsLetter(text_[at_]))) ++at_;
  }

  Number Read() {
    Number number;
    number.begin = at_;
    number.negative = IsMinus();
    std::string digits = Digits();
    if (digits.size() <= 3) {
      while (IsThousands()) {
        ++at_;
        digits += Digits();
      }
    }
    if (at_ + 1 < text_.size() && text_[at_] == '.' && IsDigit(text_[at_ + 1]) && !AfterDot()) {
      ++at_;
      number.fraction = Digits();
      number.fraction.resize(number.fraction.find_last_not_of('0') + 1);
    }
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
    number.digits = std::move(digits);
    number.end = at_;
    return number;
  }

  // Part of a version or an address (1.2.3): its pieces are compared one by one.
  bool AfterDot() const {
    const std::size_t begin = at_ - 1;
    std::size_t first = begin;
    while (first > 0 && IsDigit(text_[first - 1])) --first;
    return first > 0 && text_[first - 1] == '.';
  }

  // A minus sign, not the dash of "2026-11-21" or "a-1".
  bool IsMinus() const {
    if (at_ == 0 || text_[at_ - 1] != '-') return false;
    return at_ < 2 ||
           !(IsDigit(text_[at_ - 2]) || IsLetter(text_[at_ - 2]) || text_[at_ - 2] == '-');
  }

  std::string Digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  // A comma, underscore or apostrophe before exactly three digits.
  bool IsThousands() const {
    if (at_ + 3 >= text_.size()) return false;
    if (text_[at_] != ',' && text_[at_] != '_' && text_[at_] != '\'') return false;
    const std::string_view three = text_.substr(at_ + 1, 3);
    if (!std::ranges::all_of(three, IsDigit)) return false;
    return at_ + 4 >= text_.size() || !IsDigit(text_[at_ + 4]);
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

// `fraction` rounded to `places`, half up; the carry into the whole part is left to the caller.
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

// Whether `shown` is `exact` rounded or cut to the places that `shown` has.
bool IsRoundingOf(const Number& shown, const Number& exact) {
  const std::size_t places = shown.fraction.size();
  if (places == 0 || exact.fraction.size() <= places || shown.negative != exact.negative)
    return false;
  if (exact.digits == shown.digits && exact.fraction.starts_with(shown.fraction)) return true;
  const Rounded rounded = Round(exact, places);
  return rounded.digits == shown.digits && rounded.fraction == shown.fraction;
}

// Lower case, runs of white space as one blank.
std::string Folded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : ToLowerAscii(text)) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

bool IsWordByte(char c) { return IsDigit(c) || IsLetter(c); }

// Whether `part` occurs in `text` with no letter or digit next to it. Both folded.
bool OccursWhole(std::string_view text, std::string_view part) {
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    const bool starts = at == 0 || !IsWordByte(text[at - 1]) || !IsWordByte(part.front());
    const bool ends = end == text.size() || !IsWordByte(text[end]) || !IsWordByte(part.back());
    if (starts && ends) return true;
  }
  return false;
}

// What blocks printed, or the question said, ready for look-ups.
class Evidence {
 public:
  void Add(std::string_view text) {
    texts_.push_back(Folded(text));
    NumberReader reader(text);
    while (auto number = reader.Next()) {
      if (keys_.insert(number->Key()).second && !number->fraction.empty()) {
        decimals_.push_back(std::move(*number));
      }
    }
  }

  bool Shows(const Number& number) const {
    return keys_.contains(number.Key()) ||
           std::ranges::any_of(decimals_, [&](const Number& n) { return IsRoundingOf(number, n); });
  }

  bool ShowsText(std::string_view text) const {
    const std::string folded = Folded(text);
    return std::ranges::any_of(
        texts_, [&](const std::string& t) { return t.find(folded) != std::string::npos; });
  }

  bool ShowsWhole(std::string_view folded) const {
    return std::ranges::any_of(texts_,
                               [&](const std::string& t) { return OccursWhole(t, folded); });
  }

 private:
  std::vector<std::string> texts_;
  std::unordered_set<std::string> keys_;
  std::vector<Number> decimals_;
};

// The number of a list item at the start of a line ("2. ") says nothing about the context.
bool IsListNumber(std::string_view text, const Number& number) {
  const std::size_t line = text.substr(0, number.begin).find_last_not_of(" \t");
  const bool starts = line == std::string_view::npos || text[line] == '\n';
  const std::string_view rest = text.substr(number.end);
  return starts && number.begin > 0 && (rest.starts_with(". ") || rest.starts_with(") "));
}

struct QuoteMark {
  std::string_view open, close;
};
constexpr std::array<QuoteMark, 4> kQuotes = {
    {{"\"", "\""}, {"`", "`"}, {"'", "'"}, {"\xE2\x80\x9C", "\xE2\x80\x9D"}}};

// Texts in quotes; an apostrophe inside a word is none.
std::vector<std::string_view> QuotedTexts(std::string_view text) {
  std::vector<std::string_view> found;
  for (const QuoteMark& mark : kQuotes) {
    for (std::size_t at = text.find(mark.open); at != text.npos;) {
      const std::size_t begin = at + mark.open.size();
      std::size_t close = text.find(mark.close, begin);
      const bool single = mark.open == "'";
      if (single && at > 0 && IsWordByte(text[at - 1])) {
        at = text.find(mark.open, begin);
        continue;
      }
      while (single && close != text.npos && close + 1 < text.size() &&
             IsWordByte(text[close + 1])) {
        close = text.find(mark.close, close + 1);
      }
      if (close == text.npos) break;
      const std::string_view inner = TrimSpace(text.substr(begin, close - begin));
      if (inner.size() >= kLeastQuote) found.push_back(inner);
      at = text.find(mark.open, close + mark.close.size());
    }
  }
  return found;
}

// 0 in any spelling.
bool IsZero(const Number& number) { return number.digits == "0" && number.fraction.empty(); }

// The numbers of `text` that `known` does not have. A zero is always one: it may be the result.
std::vector<Number> AddedNumbers(std::string_view text, std::string_view known) {
  std::unordered_set<std::string> keys;
  NumberReader of_known(known);
  while (const auto number = of_known.Next()) keys.insert(number->Key());
  std::vector<Number> added;
  NumberReader reader(text);
  while (auto number = reader.Next()) {
    if (IsZero(*number) || !keys.contains(number->Key())) added.push_back(std::move(*number));
  }
  return added;
}

// `None`, `[]`, `Total: set()`, and what has no letter or digit at all: what programs print.
bool ShowsNothing(std::string_view line) {
  constexpr std::array<std::string_view, 5> kNothing = {"none", "nan", "null", "set", "counter"};
  const std::size_t label = line.find_last_of(":=");
  std::string value = ToLowerAscii(
      TrimSpace(label == std::string_view::npos ? line : line.substr(label + 1)));
  while (value.ends_with(')') || value.ends_with('(')) value.pop_back();
  return std::ranges::find(kNothing, value) != kNothing.end() ||
         std::ranges::none_of(value, IsWordByte);
}

}  // namespace

bool AnyNumberGrounded(std::string_view answer, std::string_view question,
                       std::span<const std::string> shown) {
  Evidence evidence;
  for (const std::string& text : shown) evidence.Add(text);
  evidence.Add(question);
  NumberReader reader(answer);
  bool any = false;
  while (const auto number = reader.Next()) {
    if (evidence.Shows(*number)) return true;
    any = any || !IsListNumber(answer, *number);
  }
  return !any;
}

bool HasNumber(std::string_view text) { return NumberReader(text).Next().has_value(); }

bool IsBareNumber(std::string_view text) {
  return HasNumber(text) && std::ranges::none_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  static_cast<unsigned char>(c) >= 0x80;
         });
}

bool AddsNumber(std::string_view text, std::string_view known) {
  return !AddedNumbers(text, known).empty();
}

bool SaysNothing(std::string_view text, std::string_view known) {
  text = TrimSpace(text);
  if (text.starts_with("Out:")) text = TrimSpace(text.substr(4));
  const std::vector<Number> numbers = AddedNumbers(text, known);
  if (!numbers.empty()) return std::ranges::all_of(numbers, IsZero);
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (!ShowsNothing(text.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

std::string WithoutTyped(std::string_view output, std::span<const std::string> typed) {
  std::string left(output);
  for (const std::string& text : typed) {
    if (text.empty()) continue;
    for (std::size_t at = left.find(text); at != left.npos; at = left.find(text, at)) {
      const std::size_t end = at + text.size();
      const bool starts = at == 0 || !IsWordByte(left[at - 1]) || !IsWordByte(text.front());
      const bool ends = end == left.size() || !IsWordByte(left[end]) || !IsWordByte(text.back());
      if (starts && ends) {
        left.replace(at, text.size(), " ");
      }
      at = starts && ends ? at + 1 : end;
    }
  }
  return left;
}

Grounding CheckGrounded(std::string_view answer, std::string_view question,
                        std::span<const std::string> hint_values,
                        std::span<const std::string> printed) {
  const bool nothing =
      std::ranges::all_of(printed, [](const std::string& text) { return TrimSpace(text).empty(); });
  if (nothing) return {.grounded = false};
  Evidence evidence;
  for (const std::string& text : printed) evidence.Add(text);
  evidence.Add(question);

  NumberReader reader(answer);
  while (const auto number = reader.Next()) {
    if (evidence.Shows(*number) || IsListNumber(answer, *number)) continue;
    return {.grounded = false,
            .missing = std::string(answer.substr(number->begin, number->end - number->begin))};
  }
  for (const std::string_view quote : QuotedTexts(answer)) {
    if (!evidence.ShowsText(quote)) return {.grounded = false, .missing = std::string(quote)};
  }
  const std::string folded = Folded(answer);
  for (const std::string& value : hint_values) {
    const std::string wanted = Folded(value);
    if (wanted.size() < kLeastQuote || !OccursWhole(folded, wanted)) continue;
    if (!evidence.ShowsWhole(wanted)) return {.grounded = false, .missing = value};
  }
  return {};
}

}  // namespace dossier::recursion
