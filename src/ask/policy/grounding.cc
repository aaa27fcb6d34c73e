#include "ask/policy/grounding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <unordered_set>
#include <vector>

#include "ask/policy/numbers.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kLeastQuote = 2;  // bytes; shorter quotes are marks, not evidence

// Whether a per cent sign stands behind the number that ends at `end`.
bool IsPercent(std::string_view text, std::size_t end) {
  const std::string_view rest = TrimSpace(text.substr(end, 8));
  return rest.starts_with('%') || rest.starts_with("\xEF\xBC\x85") || rest.starts_with("\xD9\xAA");
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

// Whether `part` occurs in `text` with no letter or digit next to it. Both folded.
bool OccursWhole(std::string_view text, std::string_view part) {
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    const bool starts = at == 0 || !IsTextByte(text[at - 1]) || !IsTextByte(part.front());
    const bool ends = end == text.size() || !IsTextByte(text[end]) || !IsTextByte(part.back());
    if (starts && ends) return true;
  }
  return false;
}

// What blocks printed, or the question said, ready for look-ups.
class ShownTexts {
 public:
  void Add(std::string_view text) {
    texts_.push_back(Folded(text));
    NumberReader reader(text);
    while (auto number = reader.Next()) {
      if (!keys_.insert(number->Key()).second) continue;
      if (!number->fraction.empty()) decimals_.push_back(*number);
      if (number->digits.size() > 3) large_.push_back(std::move(*number));
    }
  }

  bool Shows(const Number& number) const {
    return keys_.contains(number.Key()) ||
           std::ranges::any_of(decimals_, [&](const Number& n) { return IsRoundingOf(number, n); });
  }

  // `number` stands in `answer`, which may write it with a decimal comma or in thousands and
  // millions ("about 4.48 million"); of a percentage the share may have been printed.
  bool ShowsIn(std::string_view answer, const Number& number) const {
    if (Shows(number)) return true;
    const auto european = WithDecimalComma(answer, number);
    if (european && Shows(*european)) return true;
    if (std::ranges::any_of(large_, [&](const Number& n) {
          return IsScaledRoundingOf(number, n) || (european && IsScaledRoundingOf(*european, n));
        })) {
      return true;
    }
    if (!IsPercent(answer, number.end)) return false;
    return std::ranges::any_of(decimals_, [&](const Number& n) {
      const Number hundredfold = Hundredfold(n);
      return number.Key() == hundredfold.Key() || IsRoundingOf(number, hundredfold);
    });
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
  std::vector<Number> decimals_, large_;
};

// The number of a list item at the start of a line ("2. ") says nothing about the context.
bool IsListNumber(std::string_view text, const Number& number) {
  const std::size_t line = text.substr(0, number.begin).find_last_not_of(" \t");
  const bool starts = line == std::string_view::npos || text[line] == '\n';
  const std::string_view rest = text.substr(number.end);
  return starts && number.begin > 0 && (rest.starts_with(". ") || rest.starts_with(") "));
}

double ValueOf(const Number& number) {
  const std::string text = fmt::format("{}.{}", number.digits, number.fraction);
  return std::strtod(text.c_str(), nullptr) * (number.negative ? -1 : 1);
}

// Whether `value`, written with as many places as `shown`, is `shown`.
bool IsWrittenAs(double value, const Number& shown) {
  const double half = 0.5 * std::pow(10.0, -static_cast<double>(shown.fraction.size()));
  return std::isfinite(value) &&
         std::abs(std::abs(value) - std::abs(ValueOf(shown))) <= half * 1.000001;
}

// Digits that say something: 3.5 has two, 0.04 one. A short number is hit by chance.
std::size_t Significant(const Number& number) {
  const std::string all = number.digits + number.fraction;
  const std::size_t first = all.find_first_not_of('0');
  return first == std::string::npos ? 0 : all.size() - first;
}

// More numbers in one output, and by chance some pair of them gives any number: a short one sooner.
std::size_t MostReckoned(const Number& wanted) { return Significant(wanted) < 3 ? 2 : 4; }

enum class Unit { kOne, kPercent };

// Whether `wanted` is the sum, difference, product or quotient of two numbers of `output`. A
// quotient is rounded by the answer, so it must have two digits.
bool IsReckonedFrom(std::string_view output, const Number& wanted, Unit unit) {
  std::vector<double> values;
  NumberReader reader(output);
  while (const auto number = reader.Next()) {
    const double value = ValueOf(*number);
    if (std::ranges::find(values, value) != values.end()) continue;
    if (values.size() == MostReckoned(wanted)) return false;
    if (Significant(wanted) < 2 && std::abs(value) < 10) return false;
    values.push_back(value);
  }
  const bool whole = wanted.fraction.empty();
  for (const double a : values) {
    for (const double b : values) {
      if (a == b) continue;
      const auto exact = [&](double value) {
        return IsWrittenAs(value, wanted) && (!whole || value == std::floor(value));
      };
      if (exact(a + b) || exact(a - b) || exact(a * b)) return true;
      if (b == 0 || Significant(wanted) < 2) continue;
      if (IsWrittenAs(unit == Unit::kPercent ? 100 * a / b : a / b, wanted)) return true;
    }
  }
  return false;
}

// The items of `line`, which is a list or a set as Python prints it; none if it is not.
std::optional<std::size_t> ItemsOfList(std::string_view line) {
  line = TrimSpace(line);
  if (line.starts_with("Out:")) line = TrimSpace(line.substr(4));
  if (line.size() < 3 || (line.front() != '[' && line.front() != '{')) return std::nullopt;
  if (line.back() != (line.front() == '[' ? ']' : '}')) return std::nullopt;
  std::size_t commas = 0;
  int depth = 0;
  char quote = '\0';
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != '\0') {
      if (c == '\\') {
        ++at;
      } else if (c == quote) {
        quote = '\0';
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[' || c == '{' || c == '(') {
      ++depth;
    } else if (c == ']' || c == '}' || c == ')') {
      if (--depth == 0 && at + 1 < line.size()) return std::nullopt;
    } else if (c == ',' && depth == 1) {
      ++commas;
    }
  }
  return depth == 0 && quote == '\0' ? std::optional(commas + 1) : std::nullopt;
}

bool IsLengthOfList(std::string_view output, const Number& wanted) {
  if (!wanted.fraction.empty() || wanted.negative) return false;
  return std::ranges::any_of(Split(output, '\n'), [&](std::string_view line) {
    const auto items = ItemsOfList(line);
    return items && std::to_string(*items) == wanted.digits;
  });
}

struct QuoteMark {
  std::string_view open, close;
};
constexpr std::array<QuoteMark, 4> kQuotes = {
    {{"\"", "\""}, {"`", "`"}, {"'", "'"}, {"\xE2\x80\x9C", "\xE2\x80\x9D"}}};
// Quotation marks proper: the other two are also an apostrophe and a mark of code.
constexpr std::array<QuoteMark, 3> kQuotationMarks = {
    {{"\"", "\""}, {"\xE2\x80\x9C", "\xE2\x80\x9D"}, {"\xC2\xAB", "\xC2\xBB"}}};

// Texts in quotes; an apostrophe inside a word is none.
std::vector<std::string_view> QuotedTexts(std::string_view text,
                                          std::span<const QuoteMark> marks = kQuotes) {
  std::vector<std::string_view> found;
  for (const QuoteMark& mark : marks) {
    for (std::size_t at = text.find(mark.open); at != text.npos;) {
      const std::size_t begin = at + mark.open.size();
      std::size_t close = text.find(mark.close, begin);
      const bool single = mark.open == "'";
      if (single && at > 0 && IsTextByte(text[at - 1])) {
        at = text.find(mark.open, begin);
        continue;
      }
      while (single && close != text.npos && close + 1 < text.size() &&
             IsTextByte(text[close + 1])) {
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
  std::string value =
      ToLowerAscii(TrimSpace(label == std::string_view::npos ? line : line.substr(label + 1)));
  while (value.ends_with(')') || value.ends_with('(')) value.pop_back();
  return std::ranges::find(kNothing, value) != kNothing.end() ||
         std::ranges::none_of(value, IsTextByte);
}

}  // namespace

bool LeadingNumberGrounded(std::string_view answer, std::string_view question,
                           std::string_view sizes, std::span<const std::string> shown) {
  ShownTexts evidence, known, asked;
  for (const std::string& text : shown) evidence.Add(text);
  asked.Add(question);
  known.Add(question);
  known.Add(sizes);
  NumberReader reader(answer);
  bool any = false, stands = false;
  while (const auto number = reader.Next()) {
    if (IsListNumber(answer, *number)) continue;
    if (known.Shows(*number)) {
      any = true;
      stands = stands || evidence.Shows(*number) || asked.Shows(*number);
      continue;
    }
    if (evidence.ShowsIn(answer, *number)) return true;
    const Unit unit = IsPercent(answer, number->end) ? Unit::kPercent : Unit::kOne;
    return std::ranges::any_of(shown, [&](const std::string& output) {
      return IsReckonedFrom(output, *number, unit) || IsLengthOfList(output, *number);
    });
  }
  return !any || stands;
}

std::string UnseenQuote(std::string_view answer, std::string_view question,
                        std::span<const std::string> shown) {
  const std::string_view text = TrimSpace(answer);
  if (text.starts_with('{') || text.starts_with('[') || text.find('`') != text.npos) return {};
  ShownTexts evidence;
  for (const std::string& output : shown) evidence.Add(output);
  evidence.Add(question);
  for (const std::string_view quote : QuotedTexts(text, kQuotationMarks)) {
    if (!evidence.ShowsText(quote)) return std::string(quote);
  }
  return {};
}

bool HasNumber(std::string_view text) { return NumberReader(text).Next().has_value(); }

std::string WithPlainDigits(std::string_view text) {
  // The zeros of the scripts of Unicode's category Nd that are in daily use; nine digits follow
  // each.
  constexpr std::array<char32_t, 22> kZeros = {
      0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6,
      0x0D66, 0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x17E0, 0x1810, 0xA620, 0xABF0, 0xFF10};
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const char32_t code_point = utf8::Next(text, &at);
    const auto zero = std::ranges::find_if(
        kZeros, [=](char32_t z) { return code_point >= z && code_point < z + 10; });
    if (zero == kZeros.end()) {
      out += text.substr(start, at - start);
    } else {
      out += static_cast<char>('0' + (code_point - *zero));
    }
  }
  return out;
}

bool IsBareNumber(std::string_view text) {
  NumberReader reader(text);
  if (!reader.Next() || reader.Next()) return false;  // a date and a time are several
  return std::ranges::none_of(text, [](char c) {
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
    // Signs alone tell nothing, and within a number they are the data's.
    if (std::ranges::none_of(text, IsTextByte)) continue;
    for (std::size_t at = left.find(text); at != left.npos; at = left.find(text, at)) {
      const std::size_t end = at + text.size();
      const bool starts = at == 0 || !IsTextByte(left[at - 1]) || !IsTextByte(text.front());
      const bool in_number = (text.back() == '.' || text.back() == ',') && text.size() > 1 &&
                             IsDigit(text[text.size() - 2]) && end < left.size() &&
                             IsDigit(left[end]);
      const bool ends =
          end == left.size() || !IsTextByte(left[end]) || (!IsTextByte(text.back()) && !in_number);
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
  ShownTexts evidence;
  for (const std::string& text : printed) evidence.Add(text);
  evidence.Add(question);

  NumberReader reader(answer);
  while (const auto number = reader.Next()) {
    if (evidence.ShowsIn(answer, *number) || IsListNumber(answer, *number)) continue;
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

}  // namespace dossier::ask
