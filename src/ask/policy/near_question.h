// Checks whether the shown texts contain what an answer says, near what the question names.
//
//   WordRarity rarity = MeasureWords(documents, question + "\n" + answer, cancel);
//   if (!MissingWords(answer, question, shown, rarity).empty()) …  // nothing shown says it
//   if (!StandsNear(answer, question, shown, rarity)) …            // said, but of something else
//
// A word's weight is how few passages of the context contain it, so no word list is needed, in any
// language. Thread-safety: pure functions.

#ifndef DOSSIER_ASK_POLICY_NEAR_QUESTION_H_
#define DOSSIER_ASK_POLICY_NEAR_QUESTION_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ask/documents/document_search.h"
#include "base/cancel.h"

namespace dossier::ask {

// The number of passages of the context that contain each word.
struct WordRarity {
  std::uint64_t passages = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> with;  // by WordHash

  // Returns 0 for a word in every passage; rarer words get larger weights.
  double Weight(std::uint64_t word) const;
  bool Known(std::uint64_t word) const;   // in at least one passage
  bool Common(std::uint64_t word) const;  // in a fifth of the passages or more
};

// Measures the words of `text` (at most 64 of them) over passages of `documents`.
WordRarity MeasureWords(std::span<const TextDocument> documents, std::string_view text,
                        const CancelToken& cancel);

// Returns the rarest word of `answer` that is in none of `shown`, if the words that are there weigh
// almost nothing compared with those that are not. Empty: nothing important is missing. Words of
// the question count as shown.
std::string MissingWords(std::string_view answer, std::string_view question,
                         std::span<const std::string> shown, const WordRarity& rarity);

// Returns the words of `text` that are not in the question, without duplicates.
std::vector<std::string_view> WordsBesides(std::string_view text, std::string_view question);

// Returns true if `answer` has no words from `shown` or `passages`, except words of the question or
// of many passages: it says that something is missing, or gives only the writer's own view.
bool TakesNothing(std::string_view answer, std::string_view question,
                  std::span<const std::string> shown, std::string_view passages,
                  const WordRarity& rarity);

// Returns true if `shown` has all words of the question that few passages have: the place was seen.
bool ShowsNamed(std::string_view question, std::span<const std::string> shown,
                const WordRarity& rarity);

// Returns true if the question names most of `text`, by the weight of its words.
bool IsNamed(std::string_view text, std::string_view question, const WordRarity& rarity);

// Returns false if every place of `shown` with the answer's rarest word is running text with almost
// nothing of what the question names. Values that stand alone, such as computed ones, are not
// judged. If the context has no word of the question at all, returns the verdict `unnamed`.
enum class Unnamed { kNear, kApart };
bool StandsNear(std::string_view answer, std::string_view question,
                std::span<const std::string> shown, const WordRarity& rarity,
                Unnamed unnamed = Unnamed::kNear);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_NEAR_QUESTION_H_
