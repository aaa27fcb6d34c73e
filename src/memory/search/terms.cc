#include "memory/search/terms.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/text/utf8.h"
#include "memory/search/unicode61.h"

namespace dossier::memory {
namespace {

// The Porter stemmer (M. F. Porter, "An algorithm for suffix stripping", 1980), as SQLite's FTS5
// runs it: "connections" and "connected" become "connect".
//
//   std::string word = "failed";
//   Stem(&word);   // "fail"
//
// Where FTS5 departs from the paper, so does this: words of fewer than 3 or more than 64 bytes stay
// as they are, a y behind the first letter counts as a vowel where a stem has to have one, and a
// letter outside ASCII is a run of consonants, one a byte. Thread-safety: pure function.

constexpr std::size_t kShortest = 3, kLongest = 64;  // bytes of a word that is stemmed

bool IsVowel(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

// Walks over a word and says of each letter whether it is a consonant: a y is one at the start and
// behind a vowel.
class Consonants {
 public:
  bool Next(char c) {
    last_ = !IsVowel(c) && (c != 'y' || !last_);
    return last_;
  }

 private:
  bool last_ = false;
};

// How often a vowel is followed by a consonant: m of the paper, which is counted up to 2.
int Measure(std::string_view stem) {
  Consonants consonants;
  int measure = 0;
  bool after_vowel = false;
  for (const char c : stem) {
    const bool consonant = consonants.Next(c);
    if (consonant && after_vowel && ++measure == 2) return measure;
    after_vowel = !consonant;
  }
  return measure;
}

// *v* of the paper.
bool HasVowel(std::string_view stem) {
  for (std::size_t i = 0; i < stem.size(); ++i) {
    if (IsVowel(stem[i]) || (i > 0 && stem[i] == 'y')) return true;
  }
  return false;
}

// *o of the paper: ends consonant, vowel, consonant, the last none of w, x, y.
bool EndsShort(std::string_view stem) {
  if (stem.size() < 3) return false;
  if (const char last = stem.back(); last == 'w' || last == 'x' || last == 'y') return false;
  Consonants consonants;
  unsigned pattern = 0;  // a bit a letter, 1 for a consonant
  for (const char c : stem) pattern = pattern << 1U | (consonants.Next(c) ? 1U : 0U);
  return (pattern & 7U) == 5U;
}

enum class When { kMeasureAbove0, kMeasureAbove1, kAbove1BehindSOrT };

struct Rule {
  std::string_view suffix, replacement;
};

bool Holds(When when, std::string_view stem) {
  switch (when) {
    case When::kMeasureAbove0:
      return Measure(stem) > 0;
    case When::kMeasureAbove1:
      return Measure(stem) > 1;
    case When::kAbove1BehindSOrT:
      return !stem.empty() && (stem.back() == 's' || stem.back() == 't') && Measure(stem) > 1;
  }
  return false;
}

// The first rule whose suffix the word has, and is not all of, decides; its condition is about what
// stands before the suffix.
const Rule* FindRule(std::span<const Rule> rules, std::string_view word) {
  for (const Rule& rule : rules) {
    if (word.size() > rule.suffix.size() && word.ends_with(rule.suffix)) return &rule;
  }
  return nullptr;
}

void ReplaceSuffix(const Rule& rule, std::string* word) {
  word->resize(word->size() - rule.suffix.size());
  word->append(rule.replacement);
}

// Where one suffix ends with another, the longer stands first.
constexpr Rule kStep2[] = {
    {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"}, {"izer", "ize"},
    {"logi", "log"},    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},
    {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},
    {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"},
    {"biliti", "ble"},
};
constexpr Rule kStep3[] = {
    {"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
    {"ical", "ic"},  {"ful", ""},   {"ness", ""},
};
constexpr Rule kStep4[] = {
    {"al", ""},    {"ance", ""}, {"ence", ""}, {"er", ""},  {"ic", ""},  {"able", ""}, {"ible", ""},
    {"ement", ""}, {"ment", ""}, {"ant", ""},  {"ent", ""}, {"ion", ""}, {"ou", ""},   {"ism", ""},
    {"ate", ""},   {"iti", ""},  {"ous", ""},  {"ive", ""}, {"ize", ""},
};

// Plurals.
void Step1a(std::string* word) {
  if (!word->ends_with('s') || word->ends_with("ss")) return;
  const bool two =
      (word->size() > 4 && word->ends_with("sses")) || (word->size() > 3 && word->ends_with("ies"));
  word->resize(word->size() - (two ? 2 : 1));
}

// What is put right behind a stem that lost "ed" or "ing".
void RepairStem(std::string* word) {
  constexpr Rule kRepairs[] = {{"at", "ate"}, {"bl", "ble"}, {"iz", "ize"}};
  if (const Rule* rule = FindRule(kRepairs, *word)) return ReplaceSuffix(*rule, word);
  const char last = word->back();
  const bool doubled = word->size() > 1 && last == (*word)[word->size() - 2];
  if (doubled && !IsVowel(last) && last != 'l' && last != 's' && last != 'z') {
    word->pop_back();
  } else if (Measure(*word) == 1 && EndsShort(*word)) {
    word->push_back('e');
  }
}

// Past tenses and participles.
void Step1b(std::string* word) {
  constexpr Rule kRules[] = {{"eed", "ee"}, {"ed", ""}, {"ing", ""}};
  const Rule* rule = FindRule(kRules, *word);
  if (rule == nullptr) return;
  const std::string_view stem(word->data(), word->size() - rule->suffix.size());
  if (rule == &kRules[0]) {
    if (Measure(stem) > 0) ReplaceSuffix(*rule, word);
  } else if (HasVowel(stem)) {
    ReplaceSuffix(*rule, word);
    RepairStem(word);
  }
}

void Step1c(std::string* word) {
  if (word->back() != 'y') return;
  if (HasVowel(std::string_view(*word).substr(0, word->size() - 1))) word->back() = 'i';
}

void ApplyRules(std::span<const Rule> rules, When when, std::string* word) {
  const Rule* rule = FindRule(rules, *word);
  if (rule == nullptr) return;
  if (rule->suffix == "ion") when = When::kAbove1BehindSOrT;
  if (Holds(when, std::string_view(word->data(), word->size() - rule->suffix.size()))) {
    ReplaceSuffix(*rule, word);
  }
}

// A last e, and one of two l.
void Step5(std::string* word) {
  const auto shorter = [&] { return std::string_view(word->data(), word->size() - 1); };
  if (word->back() == 'e') {
    const int measure = Measure(shorter());
    if (measure > 1 || (measure == 1 && !EndsShort(shorter()))) word->pop_back();
  }
  if (word->ends_with("ll") && Measure(shorter()) > 1) word->pop_back();
}

// `word` is in lower case.
void Stem(std::string* word) {
  if (word->size() < kShortest || word->size() > kLongest) return;
  Step1a(word);
  Step1b(word);
  Step1c(word);
  ApplyRules(kStep2, When::kMeasureAbove0, word);
  ApplyRules(kStep3, When::kMeasureAbove0, word);
  ApplyRules(kStep4, When::kMeasureAbove1, word);
  Step5(word);
}

constexpr std::size_t kLongestTerm = 32'768;  // bytes; FTS5 cuts there

// Words that a query drops unless nothing else is left, in byte order.
constexpr std::string_view kStopWords[] = {
    "a",     "an",    "and",  "are",   "as",   "at",   "be",   "been", "by",   "can",  "could",
    "did",   "do",    "does", "for",   "from", "had",  "has",  "have", "he",   "her",  "his",
    "how",   "in",    "is",   "it",    "its",  "not",  "of",   "on",   "or",   "s",    "she",
    "t",     "that",  "the",  "their", "they", "this", "to",   "was",  "were", "what", "when",
    "where", "which", "who",  "whom",  "why",  "will", "with", "would"};

// Letters of the scripts that set no blanks between words, and their signs that repeat or lengthen
// one: first and last code point, from the blocks of Unicode.
struct Letters {
  char32_t first, last;
};
constexpr Letters kUnspaced[] = {
    {0x0e01, 0x0e3a},    // Thai
    {0x0e40, 0x0e4e},    // Thai
    {0x1100, 0x11ff},    // Hangul letters
    {0x3005, 0x3007},    // Han: repeat, closing mark, zero
    {0x3021, 0x302f},    // Han numerals, Hangul tones
    {0x3031, 0x3035},    // repeat marks of kana
    {0x3038, 0x303c},    // Han numerals and marks
    {0x3041, 0x309f},    // Hiragana
    {0x30a1, 0x30fa},    // Katakana
    {0x30fc, 0x30ff},    // Katakana: length, repeat
    {0x3131, 0x318e},    // Hangul letters
    {0x31f0, 0x31ff},    // Katakana
    {0x3400, 0x4dbf},    // Han
    {0x4e00, 0x9fff},    // Han
    {0xa960, 0xa97c},    // Hangul letters
    {0xac00, 0xd7a3},    // Hangul syllables
    {0xd7b0, 0xd7fb},    // Hangul letters
    {0xf900, 0xfaff},    // Han
    {0xff66, 0xff9f},    // Katakana of half width
    {0xffa0, 0xffdc},    // Hangul of half width
    {0x1b000, 0x1b16f},  // kana
    {0x20000, 0x3ffff},  // Han
};
// The first byte of any of them is at least this in UTF-8.
constexpr char kUnspacedByte = '\xe0';

bool IsUnspaced(char32_t code_point) {
  const Letters* above =
      std::upper_bound(std::begin(kUnspaced), std::end(kUnspaced), code_point,
                       [](char32_t c, const Letters& run) { return c < run.first; });
  return above != std::begin(kUnspaced) && code_point <= (above - 1)->last;
}

bool MayHaveUnspaced(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= static_cast<unsigned char>(kUnspacedByte);
  });
}

// Takes the code points of a text and puts its runs down as pairs.
class PairWriter {
 public:
  void Take(char32_t code_point) {
    if (!IsUnspaced(code_point)) {
      if (run_length_ > 0) out_.push_back(' ');
      run_length_ = 0;
      utf8::Append(code_point, &out_);
      return;
    }
    if (!IsWordCodePoint(code_point)) return;  // a mark
    if (!out_.empty() && run_length_ != 1) out_.push_back(' ');
    if (run_length_ > 1) utf8::Append(last_, &out_);
    utf8::Append(code_point, &out_);
    last_ = code_point;
    ++run_length_;
  }

  std::string Finish() && { return std::move(out_); }

 private:
  std::string out_;
  char32_t last_ = 0;
  std::size_t run_length_ = 0;
};

// Calls `take(std::string& word)` with each word of an IndexText, folded, not stemmed.
template <typename Take>
void ForEachIndexWord(std::string_view text, Take take) {
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) take(word);
    word.clear();
  };
  for (std::size_t offset = 0; offset < text.size();) {
    const char32_t c = utf8::Next(text, &offset);
    if (IsWordCodePoint(c) || (!word.empty() && IsDiacritic(c))) {
      if (const char32_t folded = FoldCodePoint(c); folded != 0) utf8::Append(folded, &word);
    } else {
      end_word();
    }
  }
  end_word();
}

template <typename Take>
void ForEachWord(std::string_view text, Take take) {
  if (MayHaveUnspaced(text)) return ForEachIndexWord(IndexText(text), take);
  ForEachIndexWord(text, take);
}

// The term of a word.
std::string ToTerm(std::string word) {
  Stem(&word);
  if (word.size() > kLongestTerm) word.resize(kLongestTerm);
  return word;
}

bool IsStopWord(std::string_view word) {
  return std::binary_search(std::begin(kStopWords), std::end(kStopWords), word);
}

}  // namespace

std::string IndexText(std::string_view text) {
  if (!MayHaveUnspaced(text)) return utf8::Sanitize(text);
  PairWriter pairs;
  for (std::size_t offset = 0; offset < text.size();) pairs.Take(utf8::Next(text, &offset));
  return std::move(pairs).Finish();
}

std::vector<std::string> Terms(std::string_view text) {
  std::vector<std::string> terms;
  ForEachWord(text, [&](std::string& word) { terms.push_back(ToTerm(std::move(word))); });
  return terms;
}

std::size_t CountTerms(std::string_view text) {
  std::size_t count = 0;
  ForEachWord(text, [&](std::string&) { ++count; });
  return count;
}

std::vector<std::string> QueryTerms(std::string_view query) {
  std::vector<std::string> words;
  ForEachWord(query, [&](std::string& word) { words.push_back(std::move(word)); });
  const bool only_stop_words = std::all_of(words.begin(), words.end(), IsStopWord);
  std::vector<std::string> terms;
  std::unordered_set<std::string> seen;
  for (std::string& word : words) {
    if (!only_stop_words && IsStopWord(word)) continue;
    std::string term = ToTerm(std::move(word));
    if (seen.insert(term).second) terms.push_back(std::move(term));
  }
  return terms;
}

}  // namespace dossier::memory
