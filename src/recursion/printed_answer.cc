#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"
#include "recursion/grounding.h"

namespace dossier::recursion {
namespace {

constexpr std::uint64_t kMaxChars = 80;
constexpr std::size_t kMaxNameWords = 6;

enum class Shape { kNumber, kYesNo, kChoice, kName };

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : ToLowerAscii(text) + ' ') {
    const bool part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                      static_cast<unsigned char>(c) >= 0x80;
    if (part) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

bool Holds(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

Shape ShapeOf(const std::vector<std::string>& question) {
  constexpr std::array<std::string_view, 12> kYesNo = {"is",  "are", "was",  "were", "does", "do",
                                                       "did", "has", "have", "can",  "will", "any"};
  constexpr std::array<std::string_view, 9> kNumber = {
      "many", "number", "count", "average", "sum", "total", "percentage", "median", "percent"};
  if (Holds(question, "or")) return Shape::kChoice;
  // "Which package has the largest number of …" asks for a package.
  const bool which = !question.empty() && (question[0] == "which" || question[0] == "who");
  if (!which && std::ranges::any_of(kNumber, [&](auto word) { return Holds(question, word); })) {
    return Shape::kNumber;
  }
  if (question.size() > 1 && question[0] == "how" && question[1] == "much") return Shape::kNumber;
  if (!question.empty() && std::ranges::find(kYesNo, question[0]) != kYesNo.end()) {
    return Shape::kYesNo;
  }
  return Shape::kName;
}

// "3,800", "12.5 %", "4 GB": a number, perhaps with one word behind it.
bool IsNumber(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('$')) text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_not_of("0123456789.,_"), text.size());
  if (end == 0 || text[0] < '0' || text[0] > '9') return false;
  return TrimSpace(text.substr(end)).find(' ') == std::string_view::npos;
}

// Values that code prints when it found nothing are no answers (small-models.md 15).
bool SaysNothing(std::string_view text) {
  constexpr std::array<std::string_view, 10> kNothing = {"0",  "0.0",   "none", "nan", "[]",
                                                         "{}", "set()", "()",   "''",  "null"};
  return text.empty() || std::ranges::find(kNothing, ToLowerAscii(text)) != kNothing.end();
}

bool IsName(std::string_view text) {
  if (std::string_view("[{(<").find(text[0]) != std::string_view::npos) return false;
  const std::vector<std::string> words = WordsOf(text);
  if (words.empty() || words.size() > kMaxNameWords || words[0] == "no") return false;
  return !text.ends_with(':') && !text.ends_with("...");
}

bool Suits(std::string_view value, Shape shape, const std::vector<std::string>& question) {
  const std::string lower = ToLowerAscii(value);
  switch (shape) {
    case Shape::kNumber:
      return IsNumber(value);
    case Shape::kYesNo:
      return lower == "yes" || lower == "no" || lower == "true" || lower == "false";
    case Shape::kChoice:
      return Holds(question, lower);
    case Shape::kName:
      return IsName(value);
  }
  return false;
}

std::string_view WithoutQuotes(std::string_view text) {
  const bool quoted = text.size() > 2 && (text[0] == '\'' || text[0] == '"') &&
                      text.back() == text[0] && text.find(text[0], 1) == text.size() - 1;
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::optional<std::string> PrintedAnswer(std::string_view output, std::string_view question) {
  std::string_view value = TrimSpace(output);
  if (value.starts_with("Out:")) value = TrimSpace(value.substr(4));
  value = WithoutQuotes(value);
  if (SaysNothing(value) || value.find_first_of("\r\n") != std::string_view::npos ||
      utf8::CodePoints(value) > kMaxChars) {
    return std::nullopt;
  }
  const std::vector<std::string> asked = WordsOf(question);
  const Shape shape = ShapeOf(asked);
  // "Total size: 42": the value stands behind the label.
  const std::size_t label = value.rfind(": ");
  for (const std::string_view candidate :
       {label == std::string_view::npos ? value : TrimSpace(value.substr(label + 2)), value}) {
    if (!SaysNothing(candidate) && Suits(candidate, shape, asked)) return std::string(candidate);
  }
  return std::nullopt;
}

}  // namespace dossier::recursion
