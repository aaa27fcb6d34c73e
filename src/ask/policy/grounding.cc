#include "ask/policy/grounding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <unordered_set>
#include <vector>

#include "ask/claims/numbers.h"
#include "ask/claims/reckoning.h"
#include "ask/claims/shown_texts.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kLeastQuote = 2;  // bytes; shorter quotes are symbols, not evidence

struct QuoteMark {
  std::string_view open, close;
};
constexpr std::array<QuoteMark, 4> kQuotes = {
    {{"\"", "\""}, {"`", "`"}, {"'", "'"}, {"\xE2\x80\x9C", "\xE2\x80\x9D"}}};
// Real quotation marks only: the other two are also an apostrophe and a code mark.
constexpr std::array<QuoteMark, 3> kQuotationMarks = {
    {{"\"", "\""}, {"\xE2\x80\x9C", "\xE2\x80\x9D"}, {"\xC2\xAB", "\xC2\xBB"}}};

// Returns the quoted texts; an apostrophe inside a word is not a quotation mark.
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

// Returns true for 0 in any notation.
bool IsZero(const Number& number) { return number.digits == "0" && number.fraction.empty(); }

// Returns the numbers of `text` that `known` lacks. A zero always counts: it may be the result.
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

// Returns true for output that shows nothing: `None`, `[]`, `Total: set()`, no letter or digit.
bool ShowsNothing(std::string_view line) {
  constexpr std::array<std::string_view, 5> kNothing = {"none", "nan", "null", "set", "counter"};
  const std::size_t label = line.find_last_of(":=");
  std::string value =
      ToLowerAscii(TrimSpace(label == std::string_view::npos ? line : line.substr(label + 1)));
  value.erase(value.find_last_not_of("()[]{}") + 1);
  return std::ranges::find(kNothing, value) != kNothing.end() ||
         std::ranges::none_of(value, IsTextByte);
}

}  // namespace

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
  // The zeros of the commonly used scripts in Unicode's category Nd; nine digits follow each.
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
    // Symbols alone say nothing, and within a number they belong to the data.
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
