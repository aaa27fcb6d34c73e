#include "ask/claims/names.h"

#include <utf8proc.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "ask/claims/dates.h"
#include "ask/claims/shown_texts.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kLeastName = 3;  // letters; shorter ones are marks ("OK") or initials
constexpr std::size_t kLeastStem = 4;  // letters that identify a word whatever its ending
constexpr std::size_t kMostCode = 3;   // letters of an abbreviated name: "US", "NYC"
constexpr std::size_t kLongWord = 4;   // letters of a word that may be a noun
constexpr double kNouns = 1.0 / 3;  // share of these with a capital above which it tells no names

bool IsLetterCode(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ME;
}

bool IsCapital(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_LU;
}

struct Word {
  std::string_view text;
  std::string folded;
  std::size_t letters = 0;
  bool capital = false, all_capitals = true;
  bool first = false;   // of a sentence, a line, a quotation or a list item
  bool joined = false;  // only a blank separates it from the previous word
  char behind = '\0';
};

// Returns the words of letters; apostrophes and hyphens separate words.
std::vector<Word> WordsOf(std::string_view text) {
  std::vector<Word> words;
  std::size_t last_end = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t next = at;
    const char32_t c = utf8::Next(text, &next);
    if (!IsLetterCode(c)) {
      at = next;
      continue;
    }
    Word word{.capital = IsCapital(c)};
    const std::size_t begin = at;
    while (at < text.size()) {
      next = at;
      const char32_t letter = utf8::Next(text, &next);
      if (!IsLetterCode(letter)) break;
      word.all_capitals = word.all_capitals && IsCapital(letter);
      ++word.letters;
      at = next;
    }
    word.text = text.substr(begin, at - begin);
    const std::string_view gap = text.substr(last_end, begin - last_end);
    word.first = words.empty() || gap.find_first_of(".!?:;\n\"([{*|/") != gap.npos ||
                 gap.find("\u201C") != gap.npos;
    word.joined = !words.empty() && gap == " ";
    word.behind = at < text.size() ? text[at] : '\0';
    last_end = at;
    words.push_back(std::move(word));
  }
  for (Word& word : words) word.folded = Folded(word.text);
  return words;
}

// The words that were seen, for look-ups.
class SeenWords {
 public:
  void Add(std::string_view text) {
    for (Word& word : WordsOf(text)) {
      if (word.all_capitals && word.letters >= 2 && word.letters <= kMostCode) {
        codes_.insert(word.folded);
      }
      if (!word.capital) ordinary_.insert(word.folded);
      if (!words_.insert(word.folded).second) continue;
      if (word.folded.size() >= kLeastStem) stems_.insert(word.folded.substr(0, kLeastStem));
      list_.push_back(std::move(word.folded));
    }
  }

  // Finds the word itself, or one with another ending.
  bool Has(const std::string& folded) const {
    if (words_.contains(folded)) return true;
    if (folded.size() < kLeastStem || !stems_.contains(folded.substr(0, kLeastStem))) return false;
    return std::ranges::any_of(list_, [&](const std::string& other) {
      const auto [a, b] = std::ranges::mismatch(folded, other);
      const auto alike = static_cast<std::size_t>(a - folded.begin());
      return alike >= kLeastStem && 3 * alike >= 2 * std::max(folded.size(), other.size());
    });
  }
  // Returns true if the word was seen in lower case: at the start of a sentence it is not a name.
  bool IsOrdinary(const std::string& folded) const { return ordinary_.contains(folded); }
  bool HasCode(const std::string& folded) const { return codes_.contains(folded); }

 private:
  std::unordered_set<std::string> words_, stems_, codes_, ordinary_;
  std::vector<std::string> list_;
};

// Returns true if a capital letter indicates a name: not if the question capitalizes many of its
// longer words, or one that is otherwise unknown.
bool CapitalsTellNames(std::string_view question, const std::function<bool(const Word&)>& stands) {
  std::size_t lengthy = 0, capital = 0;
  for (const Word& word : WordsOf(question)) {
    if (word.first || word.letters < kLongWord) continue;
    ++lengthy;
    if (!word.capital || word.all_capitals) continue;
    ++capital;
    if (!stands(word)) return false;
  }
  return static_cast<double>(capital) < kNouns * static_cast<double>(lengthy) || capital == 0;
}

bool IsName(const Word& word) {
  return word.capital && !word.first && !word.all_capitals && word.letters >= kLeastName &&
         word.behind != ':' && !IsCalendarName(word.text);
}

}  // namespace

std::string UnseenName(std::string_view answer, std::string_view question,
                       std::span<const std::string> seen,
                       const std::function<bool(std::string_view)>& in_data) {
  const std::vector<Word> words = WordsOf(answer);
  if (std::ranges::none_of(words, IsName)) return {};
  SeenWords known;
  for (const std::string& text : seen) known.Add(text);
  const auto stands = [&](const Word& word) {
    return known.Has(word.folded) || in_data(word.folded);
  };
  SeenWords asked = known;
  asked.Add(question);
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (!words[at].capital) continue;
    const std::size_t first = at;
    while (at + 1 < words.size() && words[at + 1].capital && words[at + 1].joined) ++at;
    const Word& last = words[at];
    // A single word may be common knowledge: "The text is in English."
    const bool begins = words[first].first && asked.IsOrdinary(words[first].folded);
    if (at + 1 - first < (begins ? 3u : 2u)) continue;
    if (!IsName(last) || asked.Has(last.folded) || in_data(last.folded)) continue;
    std::string initials;
    for (std::size_t i = first; i <= at; ++i) initials += words[i].folded[0];
    if (asked.HasCode(initials)) continue;
    if (!CapitalsTellNames(question, stands)) return {};
    return std::string(words[first].text.data(), last.text.data() + last.text.size());
  }
  return {};
}

}  // namespace dossier::ask
