#include "ask/claims/shown_texts.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/text/text.h"

namespace dossier::ask {
namespace {

// Returns lower case without diacritics; in invalid UTF-8 only ASCII letters change.
std::string WithoutCaseAndMarks(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    return ToLowerAscii(text);
  }
  utf8proc_uint8_t* folded = nullptr;
  constexpr auto kHow = static_cast<utf8proc_option_t>(UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK |
                                                       UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &folded, kHow);
  if (size < 0) return ToLowerAscii(text);
  std::string out(reinterpret_cast<const char*>(folded), static_cast<std::size_t>(size));
  std::free(folded);  // as utf8proc_map requires
  return out;
}

// Returns the items of `line` if it is a list or a set as printed by Python; none otherwise.
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

}  // namespace

std::string Folded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : WithoutCaseAndMarks(text)) {
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

bool OccursWhole(std::string_view text, std::string_view part) {
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    const bool starts = at == 0 || !IsTextByte(text[at - 1]) || !IsTextByte(part.front());
    const bool ends = end == text.size() || !IsTextByte(text[end]) || !IsTextByte(part.back());
    if (starts && ends) return true;
  }
  return false;
}

bool IsPercent(std::string_view text, std::size_t end) {
  const std::string_view rest = TrimSpace(text.substr(end, 8));
  if (rest.starts_with('%') || rest.starts_with("\xEF\xBC\x85") || rest.starts_with("\xD9\xAA")) {
    return true;
  }
  constexpr std::string_view kWords[] = {"percent",   "per cent",   "prozent",
                                         "pour cent", "por ciento", "per cento",
                                         "por cento", "procent",    "процент"};
  const std::string words = ToLowerAscii(TrimSpace(text.substr(end, 24)));
  return std::ranges::any_of(kWords,
                             [&](std::string_view word) { return words.starts_with(word); });
}

bool IsListNumber(std::string_view text, const Number& number) {
  const std::size_t line = text.substr(0, number.begin).find_last_not_of(" \t");
  const bool starts = line == std::string_view::npos || text[line] == '\n';
  const std::string_view rest = text.substr(number.end);
  return starts && number.begin > 0 && (rest.starts_with(". ") || rest.starts_with(") "));
}

bool IsLengthOf(std::string_view output, const Number& wanted) {
  if (!wanted.fraction.empty() || wanted.negative) return false;
  const auto lines = std::ranges::count_if(
      Split(output, '\n'), [](std::string_view line) { return !TrimSpace(line).empty(); });
  if (lines > 1 && std::to_string(lines) == wanted.digits) return true;
  return std::ranges::any_of(Split(output, '\n'), [&](std::string_view line) {
    const auto items = ItemsOfList(line);
    return items && std::to_string(*items) == wanted.digits;
  });
}

void ShownTexts::Add(std::string_view text) {
  texts_.push_back(Folded(text));
  NumberReader reader(text);
  while (auto number = reader.Next()) {
    if (!keys_.insert(number->Key()).second) continue;
    if (!number->fraction.empty()) decimals_.push_back(*number);
    if (number->digits.size() > 3) large_.push_back(std::move(*number));
  }
}

bool ShownTexts::Shows(const Number& number) const {
  return keys_.contains(number.Key()) ||
         std::ranges::any_of(decimals_, [&](const Number& n) { return IsRoundingOf(number, n); });
}

bool ShownTexts::ShowsIn(std::string_view answer, const Number& number) const {
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

bool ShownTexts::ShowsText(std::string_view text) const {
  const std::string folded = Folded(text);
  return std::ranges::any_of(
      texts_, [&](const std::string& t) { return t.find(folded) != std::string::npos; });
}

bool ShownTexts::ShowsWhole(std::string_view folded) const {
  return std::ranges::any_of(texts_, [&](const std::string& t) { return OccursWhole(t, folded); });
}

}  // namespace dossier::ask
