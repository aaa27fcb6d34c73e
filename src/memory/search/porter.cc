#include "memory/search/porter.h"

#include <span>
#include <string_view>

namespace dossier::memory {
namespace {

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

}  // namespace

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

}  // namespace dossier::memory
