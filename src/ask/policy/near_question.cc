#include "ask/policy/near_question.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

#include "ask/documents/document_words.h"

namespace dossier::ask {
namespace {

// kShownShare and kNearShare were tuned on those questions of tests/suite/untuned.py meant for it.
constexpr double kShownShare = 0.25;     // of the weight of an answer's words
constexpr double kNearShare = 0.35;      // of the weight of a question's words
constexpr double kNamedShare = 0.5;      // of the weight of a text's words
constexpr double kTakenShare = 0.5;      // of the weight of a word that no passage holds
constexpr std::size_t kAround = 400;     // bytes on each side of a value: about a paragraph
constexpr std::size_t kRunningText = 6;  // words around a value that is not a lone result

struct TextWord {
  std::uint64_t hash = 0;
  std::string_view text;
};

std::vector<TextWord> WordsOf(std::string_view text) {
  std::vector<TextWord> words;
  WordReader reader(text);
  for (std::uint64_t hash; reader.Next(&hash);) {
    words.push_back({hash, text.substr(reader.begin(), reader.end() - reader.begin())});
  }
  return words;
}

std::unordered_set<std::uint64_t> HashesOf(std::string_view text) {
  std::unordered_set<std::uint64_t> hashes;
  for (const TextWord& word : WordsOf(text)) hashes.insert(word.hash);
  return hashes;
}

// Returns the words that the answer adds to the question, without duplicates.
std::vector<TextWord> OwnWords(std::string_view answer, std::string_view question) {
  std::unordered_set<std::uint64_t> known = HashesOf(question);
  std::vector<TextWord> own;
  for (const TextWord& word : WordsOf(answer)) {
    if (known.insert(word.hash).second) own.push_back(word);
  }
  return own;
}

// Returns the share of the question's weight around byte `at` of `text`.
double ShareAround(std::string_view text, std::size_t at, std::string_view question,
                   const WordRarity& rarity, Unnamed unnamed) {
  const std::size_t begin = at - std::min(at, kAround);
  const auto near = HashesOf(text.substr(begin, at - begin + kAround));
  double all = 0, there = 0;
  for (const std::uint64_t word : HashesOf(question)) {
    if (!rarity.Known(word)) continue;  // nothing in the context can contain it
    all += rarity.Weight(word);
    if (near.contains(word)) there += rarity.Weight(word);
  }
  if (all == 0) return unnamed == Unnamed::kNear ? 1.0 : 0.0;
  return there / all;
}

}  // namespace

std::vector<std::string_view> WordsBesides(std::string_view text, std::string_view question) {
  std::vector<std::string_view> words;
  for (const TextWord& word : OwnWords(text, question)) words.push_back(word.text);
  return words;
}

double WordRarity::Weight(std::uint64_t word) const {
  const auto found = with.find(word);
  const double holding = found == with.end() ? 0.0 : static_cast<double>(found->second);
  return std::log((static_cast<double>(passages) + 1) / (holding + 1));
}

bool WordRarity::Known(std::uint64_t word) const {
  const auto found = with.find(word);
  return found != with.end() && found->second > 0;
}

bool WordRarity::Common(std::uint64_t word) const {
  constexpr std::uint64_t kLeast = 3;
  constexpr double kShare = 0.2;
  const auto found = with.find(word);
  return found != with.end() && found->second >= kLeast &&
         static_cast<double>(found->second) >= kShare * static_cast<double>(passages);
}

WordRarity MeasureWords(std::span<const TextDocument> documents, std::string_view text,
                        const CancelToken& cancel) {
  std::vector<std::uint64_t> words;
  for (const TextWord& word : WordsOf(text)) words.push_back(word.hash);
  WordRarity rarity;
  const PassageCounts counts = CountPassages(documents, words, cancel);
  rarity.passages = counts.passages;
  for (std::size_t i = 0; i < counts.with.size(); ++i) rarity.with[words[i]] = counts.with[i];
  return rarity;
}

std::string MissingWords(std::string_view answer, std::string_view question,
                         std::span<const std::string> shown, const WordRarity& rarity) {
  std::unordered_set<std::uint64_t> there;
  for (const std::string& text : shown) there.merge(HashesOf(text));
  double all = 0, found = 0, heaviest = 0;
  std::string_view missing;
  for (const TextWord& word : OwnWords(answer, question)) {
    const double weight = rarity.Weight(word.hash);
    all += weight;
    if (there.contains(word.hash)) {
      found += weight;
    } else if (weight > heaviest) {
      heaviest = weight;
      missing = word.text;
    }
  }
  return found < kShownShare * all ? std::string(missing) : std::string();
}

bool TakesNothing(std::string_view answer, std::string_view question,
                  std::span<const std::string> shown, std::string_view passages,
                  const WordRarity& rarity) {
  // A two-letter word is matched exactly: "No" does not occur in "no sons", but "CA" is a value.
  constexpr std::size_t kShort = 2;
  std::unordered_set<std::uint64_t> there;
  std::unordered_set<std::string_view> short_words;
  for (const std::string& text : shown) {
    for (const TextWord& word : WordsOf(text)) {
      there.insert(word.hash);
      if (word.text.size() <= kShort) short_words.insert(word.text);
    }
  }
  for (const TextWord& word : WordsOf(passages)) {
    if (!rarity.Known(word.hash)) continue;  // from a heading
    there.insert(word.hash);
    if (word.text.size() <= kShort) short_words.insert(word.text);
  }
  return std::ranges::none_of(OwnWords(answer, question), [&](const TextWord& word) {
    if (word.text.size() <= kShort && !short_words.contains(word.text)) return false;
    return there.contains(word.hash) && !rarity.Common(word.hash) &&
           rarity.Weight(word.hash) >= kTakenShare * rarity.Weight(0);
  });
}

bool ShowsNamed(std::string_view question, std::span<const std::string> shown,
                const WordRarity& rarity) {
  std::unordered_set<std::uint64_t> there;
  for (const std::string& text : shown) there.merge(HashesOf(text));
  bool any = false;
  for (const std::uint64_t word : HashesOf(question)) {
    if (!rarity.Known(word) || rarity.Common(word)) continue;
    if (!there.contains(word)) return false;
    any = true;
  }
  return any;
}

bool IsNamed(std::string_view text, std::string_view question, const WordRarity& rarity) {
  const std::unordered_set<std::uint64_t> asked = HashesOf(question);
  double all = 0, named = 0;
  for (const std::uint64_t word : HashesOf(text)) {
    all += rarity.Weight(word);
    if (asked.contains(word)) named += rarity.Weight(word);
  }
  return all == 0 || named >= kNamedShare * all;
}

bool StandsNear(std::string_view answer, std::string_view question,
                std::span<const std::string> shown, const WordRarity& rarity, Unnamed unnamed) {
  std::unordered_set<std::uint64_t> there;
  for (const std::string& text : shown) there.merge(HashesOf(text));
  const TextWord* key = nullptr;
  const std::vector<TextWord> own = OwnWords(answer, question);
  for (const TextWord& word : own) {
    if (!there.contains(word.hash)) continue;
    if (!key || rarity.Weight(word.hash) > rarity.Weight(key->hash)) key = &word;
  }
  if (!key) return true;
  bool judged = false;
  for (const std::string& text : shown) {
    const std::vector<TextWord> words = WordsOf(text);
    if (words.size() < kRunningText) {
      // A lone value was computed or cut out by code.
      if (std::ranges::any_of(words, [&](const TextWord& w) { return w.hash == key->hash; })) {
        return true;
      }
      continue;
    }
    for (const TextWord& word : words) {
      if (word.hash != key->hash) continue;
      judged = true;
      const auto at = static_cast<std::size_t>(word.text.data() - text.data());
      if (ShareAround(text, at, question, rarity, unnamed) >= kNearShare) return true;
    }
  }
  return !judged;
}

}  // namespace dossier::ask
