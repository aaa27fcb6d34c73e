#include <algorithm>
#include <array>
#include <vector>

#include "ask/policy/grounding.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::uint64_t kMaxChars = 80;
constexpr std::size_t kMaxNameWords = 6;

std::vector<std::string> PrintedWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : ToLowerAscii(text) + ' ') {
    const bool part =
        IsLower(c) || IsDigit(c) || c == '_' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
    if (part) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

// Returns true for a number, optionally with one word after it: "3,800", "12.5 %", "4 GB".
bool IsNumber(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('$')) text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_not_of("0123456789.,_"), text.size());
  if (end == 0 || text[0] < '0' || text[0] > '9') return false;
  return TrimSpace(text.substr(end)).find(' ') == std::string_view::npos;
}

bool IsName(std::string_view text) {
  if (std::string_view("[{(<").find(text[0]) != std::string_view::npos) return false;
  const std::vector<std::string> words = PrintedWords(text);
  if (words.empty() || words.size() > kMaxNameWords) return false;
  return !text.ends_with(':') && !text.ends_with("...");
}

bool Suits(std::string_view value, AnswerKind wanted) {
  if (wanted == AnswerKind::kNumber) return IsNumber(value);
  return IsName(value) || IsNumber(value);
}

std::string_view WithoutQuotes(std::string_view text) {
  const bool quoted = text.size() > 2 && (text[0] == '\'' || text[0] == '"') &&
                      text.back() == text[0] && text.find(text[0], 1) == text.size() - 1;
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::optional<std::string> PrintedAnswer(std::string_view output, AnswerKind wanted) {
  std::string_view value = TrimSpace(output);
  if (value.starts_with("Out:")) value = TrimSpace(value.substr(4));
  value = WithoutQuotes(value);
  if (SaysNothing(value, {}) || value.find_first_of("\r\n") != std::string_view::npos ||
      utf8::CodePoints(value) > kMaxChars) {
    return std::nullopt;
  }
  // "Total size: 42": the value is after the label.
  const std::size_t label = value.rfind(": ");
  for (const std::string_view candidate :
       {label == std::string_view::npos ? value : TrimSpace(value.substr(label + 2)), value}) {
    if (!SaysNothing(candidate, {}) && Suits(candidate, wanted)) return std::string(candidate);
  }
  return std::nullopt;
}

}  // namespace dossier::ask
