#include "ask/policy/named_values.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "ask/documents/document_words.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kRead = 4u << 20;    // bytes of each text: rows enough to tell
constexpr std::size_t kShortestWord = 4;   // bytes; shorter ones are more often speech than values
constexpr std::uint64_t kFewestLines = 3;  // with the word
constexpr double kMostLines = 0.9;         // of all: a word of nearly every row tells none apart
constexpr double kAtOnePlace = 0.95;       // of the lines with the word

struct Places {
  std::string word;
  std::uint64_t lines = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> at;  // lines by the place of the word in them
};

using Wanted = std::unordered_map<std::uint64_t, Places>;

Wanted WordsOf(std::string_view question, const std::set<std::string, std::less<>>& fields) {
  std::unordered_set<std::uint64_t> names;
  for (const std::string& field : fields) {
    WordReader words(field);
    for (std::uint64_t word; words.Next(&word);) names.insert(word);
  }
  Wanted wanted;
  WordReader words(question);
  for (std::uint64_t word; words.Next(&word);) {
    const std::string_view text = question.substr(words.begin(), words.end() - words.begin());
    const bool number = text.find_first_not_of("0123456789") == text.npos;
    if (text.size() < kShortestWord || number || names.contains(word)) continue;
    wanted.emplace(word, Places{.word = std::string(text)});
  }
  return wanted;
}

void CountLine(std::string_view line, Wanted* wanted) {
  WordReader words(line);
  std::uint64_t place = 0;
  std::unordered_set<std::uint64_t> seen;  // a word counts once a line, where it stands first
  for (std::uint64_t word; words.Next(&word); ++place) {
    const auto found = wanted->find(word);
    if (found == wanted->end() || !seen.insert(word).second) continue;
    ++found->second.lines;
    ++found->second.at[place];
  }
}

bool IsValue(const Places& places, std::uint64_t lines) {
  if (places.lines < kFewestLines) return false;
  const auto with = static_cast<double>(places.lines);
  if (with > kMostLines * static_cast<double>(lines)) return false;
  return std::ranges::any_of(places.at, [with](const auto& place) {
    return static_cast<double>(place.second) >= kAtOnePlace * with;
  });
}

}  // namespace

std::vector<std::string> NamedValues(std::span<const std::string_view> texts,
                                     const std::set<std::string, std::less<>>& fields,
                                     std::string_view question) {
  std::set<std::string> values;
  for (const std::string_view whole : texts) {
    Wanted wanted = WordsOf(question, fields);
    std::uint64_t lines = 0;
    const std::string_view text = whole.substr(0, kRead);
    for (std::size_t at = 0; at < text.size() && !wanted.empty(); ++lines) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      CountLine(text.substr(at, end - at), &wanted);
      at = end + 1;
    }
    for (const auto& [word, places] : wanted) {
      if (IsValue(places, lines)) values.insert(places.word);
    }
  }
  return {values.begin(), values.end()};
}

std::string LeftOut(std::span<const std::string> values, std::span<const std::string> code) {
  std::unordered_set<std::uint64_t> said;
  for (const std::string& block : code) {
    WordReader words(block);
    for (std::uint64_t word; words.Next(&word);) said.insert(word);
  }
  const auto left_out = std::ranges::find_if(
      values, [&](const std::string& value) { return !said.contains(WordHash(value)); });
  return left_out == values.end() ? std::string() : *left_out;
}

}  // namespace dossier::ask
