#include "ask/policy/votes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

bool IsWordPart(char c) { return IsAlnum(c) || static_cast<unsigned char>(c) >= 0x80; }

bool JoinsWord(char c) { return c == '.' || c == '-' || c == '_' || c == ',' || c == '+'; }

// Runs of letters and digits, with marks between them kept: "3,800", "g++-12", "9.5".
std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    if (!IsWordPart(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    while (end < text.size() &&
           (IsWordPart(text[end]) ||
            (JoinsWord(text[end]) && end + 1 < text.size() && IsWordPart(text[end + 1])))) {
      ++end;
    }
    words.push_back(ToLowerAscii(text.substr(at, end - at)));
    at = end;
  }
  return words;
}

std::optional<std::string> AsNumber(std::string_view word) {
  const std::string digits = ReplaceAll(word, ",", "");
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  // Whole numbers are counts and must be equal; others are rounded by people and models alike.
  const bool whole = digits.find('.') == std::string::npos;
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

bool Includes(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::includes(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

namespace {

Vote VoteWithout(const std::set<std::string>& known, const std::set<std::string>& shown,
                 const std::vector<std::string>& answer) {
  Vote vote;
  for (const std::string& word : answer) {
    if (known.contains(word)) continue;
    if (auto number = AsNumber(word)) {
      vote.numbers.insert(*number);
    } else if (shown.contains(word)) {
      vote.words.insert(word);
    }
  }
  return vote;
}

}  // namespace

Vote MakeVote(std::string_view answer, std::string_view printed, std::string_view question) {
  const std::vector<std::string> printed_words = Words(printed), asked = Words(question);
  const std::set<std::string> shown(printed_words.begin(), printed_words.end());
  const std::set<std::string> known(asked.begin(), asked.end());
  const std::vector<std::string> words = Words(answer);
  Vote vote = VoteWithout(known, shown, words);
  // "The shed or the kitchen?" is answered by a word of the question.
  if (vote.numbers.empty() && vote.words.empty()) vote = VoteWithout({}, shown, words);
  return vote;
}

bool Agree(const Vote& a, const Vote& b) {
  if (a.numbers.empty() && a.words.empty()) return false;
  if (a.numbers != b.numbers) return false;
  if (a.numbers.empty() && (a.words.empty() || b.words.empty())) return false;
  return Includes(a.words, b.words) || Includes(b.words, a.words);
}

}  // namespace dossier::ask
