#include "ask/policy/named_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "ask/claims/numbers.h"
#include "ask/claims/shown_texts.h"
#include "ask/documents/document_words.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kRead = 4u << 20;   // bytes of each text: enough rows to decide
constexpr std::size_t kShortestWord = 4;  // bytes; shorter ones are mostly plain words, not values
constexpr std::size_t kShortestPart = 3;  // bytes of a constant that begins like a value
constexpr std::uint64_t kFewestLines = 3;
constexpr std::size_t kMostQuoted = 200;  // code points of a line
constexpr double kMostLines = 0.9;   // of all: a word in nearly every row distinguishes none
constexpr double kNearlyAll = 0.95;  // of the lines with the word, or of those that code selects

bool IsPart(char c) { return IsDigit(c) || IsLetter(c) || static_cast<unsigned char>(c) >= 0x80; }

// Calls `add(hash, number, text)` for each name of letters, digits and punctuation between them:
// OVEN-3, 10.0.4.7, a/b. WordReader splits such a name.
template <typename Add>
void ForEachName(std::string_view text, const Add& add) {
  constexpr std::string_view kMarks = "-_./#";
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < text.size(); ++number) {
    while (at < text.size() && !IsPart(text[at])) ++at;
    const std::size_t begin = at;
    bool marked = false;
    while (at < text.size() &&
           (IsPart(text[at]) || (kMarks.find(text[at]) != kMarks.npos && at + 1 < text.size() &&
                                 IsPart(text[at + 1])))) {
      marked |= !IsPart(text[at]);
      ++at;
    }
    const std::string_view name = text.substr(begin, at - begin);
    const bool has_letter = std::ranges::any_of(name, IsLetter);
    if (marked && has_letter) add(std::hash<std::string>()(ToLowerAscii(name)), number, name);
  }
}

// Calls `add(word, place)` for each word and name of a line. A place is the number of the word in
// its line, or of the cell that has only this word: free text before a cell shifts words, not
// cells.
template <typename Add>
void ForEachPlace(std::string_view line, const Add& add) {
  WordReader words(line);
  std::uint64_t number = 0;
  for (std::uint64_t word; words.Next(&word); ++number) add(word, 2 * number);
  constexpr std::uint64_t kNames = std::uint64_t{1} << 32;
  ForEachName(line, [&](std::uint64_t name, std::uint64_t at, std::string_view /*text*/) {
    add(name, kNames + at);
  });
  std::uint64_t cell = 0;
  for (std::size_t at = 0; at <= line.size(); ++cell) {
    const std::size_t end = std::min(line.find_first_of(",;\t", at), line.size());
    std::string_view text = line.substr(at, end - at);
    text.remove_prefix(std::min(text.rfind(':') + 1, text.size()));  // after a JSON key
    WordReader alone(text);
    std::uint64_t word = 0, second = 0;
    if (alone.Next(&word) && !alone.Next(&second)) add(word, 2 * cell + 1);
    at = end + 1;
  }
}

template <typename Use>
void ForEachLine(std::span<const std::string_view> texts, const Use& use) {
  for (const std::string_view whole : texts) {
    const std::string_view text = whole.substr(0, kRead);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      use(text.substr(at, end - at));
      at = end + 1;
    }
  }
}

std::unordered_set<std::uint64_t> NameHashesOf(std::string_view text) {
  std::unordered_set<std::uint64_t> hashes;
  WordReader words(text);
  for (std::uint64_t word; words.Next(&word);) hashes.insert(word);
  ForEachName(text, [&](std::uint64_t name, std::uint64_t /*number*/, std::string_view /*text*/) {
    hashes.insert(name);
  });
  return hashes;
}

// Returns the text constants of Python code, one per line. Comments and variable names do not
// count.
std::string ConstantsOf(std::string_view code) {
  std::string constants;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const char c = code[at];
    if (c == '#') {
      at = std::min(code.find('\n', at), code.size());
    } else if (c == '\'' || c == '"') {
      std::size_t end = at + 1;
      while (end < code.size() && code[end] != c) end += code[end] == '\\' ? 2 : 1;
      end = std::min(end, code.size());
      constants += code.substr(at + 1, end - at - 1);
      constants += '\n';
      at = end;
    }
  }
  return constants;
}

struct Counted {
  std::string word;
  std::uint64_t lines = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> at;  // lines by place
};

}  // namespace

NamedValues::NamedValues(std::vector<std::string_view> texts,
                         const std::set<std::string, std::less<>>& fields,
                         std::string_view question)
    : texts_(std::move(texts)) {
  Hashes names;
  for (const std::string& field : fields) names.merge(NameHashesOf(field));
  std::unordered_map<std::uint64_t, Counted> wanted;
  WordReader words(question);
  for (std::uint64_t word; words.Next(&word);) {
    const std::string_view text = question.substr(words.begin(), words.end() - words.begin());
    if (text.size() < kShortestWord || std::ranges::all_of(text, IsDigit)) continue;
    if (!names.contains(word)) wanted.emplace(word, Counted{.word = std::string(text)});
  }
  ForEachName(question, [&](std::uint64_t name, std::uint64_t /*number*/, std::string_view text) {
    if (!names.contains(name)) wanted.emplace(name, Counted{.word = std::string(text)});
  });
  if (wanted.empty()) return;
  std::uint64_t lines = 0;
  ForEachLine(texts_, [&](std::string_view line) {
    ++lines;
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;  // each place of a word once per line
    Hashes there;
    ForEachPlace(line, [&](std::uint64_t word, std::uint64_t place) {
      const auto found = wanted.find(word);
      if (found == wanted.end() || !seen.emplace(word, place).second) return;
      if (there.insert(word).second) ++found->second.lines;
      ++found->second.at[place];
    });
  });
  for (const auto& [hash, counted] : wanted) {
    const auto with = static_cast<double>(counted.lines);
    if (counted.lines < kFewestLines || with > kMostLines * static_cast<double>(lines)) continue;
    const auto usual = std::ranges::max_element(counted.at, {}, [](const auto& entry) {
      return std::pair(entry.second, entry.first % 2);
    });
    if (static_cast<double>(usual->second) < kNearlyAll * with) continue;
    values_.push_back({.word = counted.word, .hash = hash, .place = usual->first});
  }
  std::ranges::sort(values_, {}, &Value::word);
}

std::vector<std::string> NamedValues::words() const {
  std::vector<std::string> words;
  for (const Value& value : values_) words.push_back(value.word);
  return words;
}

// True if other values of the place express it, or nearly all rows of the constants have it.
bool NamedValues::IsExpressed(const Value& value, const Hashes& constants, Look look) const {
  double all = 0, covered = 0;  // lines; with the value or with a constant at its place
  bool expressed = false;       // by a constant at its place
  std::uint64_t most = 0;       // constants on one line
  std::unordered_map<std::uint64_t, std::pair<double, double>>
      picked;  // by their number: lines, with
  ForEachLine(texts_, [&](std::string_view line) {
    Hashes held;
    bool with = false, beside = false;
    ForEachPlace(line, [&](std::uint64_t word, std::uint64_t place) {
      with |= word == value.hash;
      if (!constants.contains(word)) return;
      held.insert(word);
      beside |= place == value.place;
    });
    ++all;
    covered += with || beside ? 1 : 0;
    expressed |= beside;
    most = std::max<std::uint64_t>(most, held.size());
    auto& [lines, with_value] = picked[held.size()];
    ++lines;
    with_value += with ? 1 : 0;
  });
  const auto& [lines, with_value] = picked[most];
  if (look == Look::kCells) expressed = covered >= kNearlyAll * all;
  return expressed || (most > 0 && with_value >= kNearlyAll * lines);
}

bool NamesDocument(std::string_view question, std::string_view name) {
  const std::string_view last = name.substr(name.find_last_of('/') + 1);
  const std::string below = fmt::format("/{}", name);
  bool named = false;
  ForEachName(question, [&](std::uint64_t /*hash*/, std::uint64_t /*at*/, std::string_view text) {
    named |= text == name || text == last || text.ends_with(below);
  });
  return named;
}

using Hashes = std::unordered_set<std::uint64_t>;

std::string FromOtherDocument(std::string_view answer, std::string_view question,
                              std::span<const TextDocument> documents, const LineMet& met) {
  constexpr std::size_t kShortest = 4;  // bytes of a word, or of an answer without a number
  const std::string_view given = TrimSpace(answer);
  NumberReader numbers(given);
  const auto number = numbers.Next();
  const auto stands = [&](std::string_view text) {
    ShownTexts shown;
    shown.Add(text);
    return number ? shown.ShowsIn(given, *number) : shown.ShowsText(given);
  };
  Hashes known;  // words of the named documents, and of all names
  std::string_view name;
  for (const TextDocument& document : documents) {
    known.merge(NameHashesOf(document.name));
    if (!NamesDocument(question, document.name)) continue;
    if (stands(document.text)) return {};
    name = document.name;
    known.merge(NameHashesOf(document.text));
  }
  if (name.empty() || (!number && given.size() < kShortest)) return {};
  Hashes wanted;
  WordReader asked(question);
  for (std::uint64_t word; asked.Next(&word);) {
    if (asked.end() - asked.begin() >= kShortest && !known.contains(word)) wanted.insert(word);
  }
  std::string found;
  for (const TextDocument& other : documents) {
    ForEachLine(std::span(&other.text, 1), [&](std::string_view line) {
      Hashes here = NameHashesOf(line);
      if (!found.empty() || !std::erase_if(here, [&](auto w) { return wanted.contains(w); })) return;
      if (!stands(line) || !met(other, TrimSpace(line))) return;
      found = fmt::format("The question names {}, where this does not stand; it stands in {}: {}",
                          name, other.name, utf8::Prefix(TrimSpace(line), kMostQuoted));
    });
  }
  return found;
}

std::string NamedValues::LeftOut(std::span<const std::string> code,
                                 std::span<const std::string> seen, Look look) const {
  if (values_.empty()) return {};
  std::string constants;
  for (const std::string& block : code) constants += ConstantsOf(block);
  const Hashes said = NameHashesOf(constants);
  Hashes shown;
  for (const std::string& text : seen) shown.merge(NameHashesOf(text));
  const auto begins = [&](const Value& value) {
    return std::ranges::any_of(Split(ToLowerAscii(constants), '\n'), [&](std::string_view part) {
      return part.size() >= kShortestPart && ToLowerAscii(value.word).starts_with(part);
    });
  };
  for (const Value& value : values_) {
    if (look == Look::kCells && value.place % 2 == 0) continue;
    if (said.contains(value.hash) || shown.contains(value.hash) || begins(value)) continue;
    if (!IsExpressed(value, said, look)) return value.word;
  }
  return {};
}

}  // namespace dossier::ask
