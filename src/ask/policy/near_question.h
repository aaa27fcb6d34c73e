// Whether what an answer says stands in the texts that were shown, and there beside what the
// question names.
//
//   WordRarity rarity = MeasureWords(documents, question + "\n" + answer, cancel);
//   if (!MissingWords(answer, question, shown, rarity).empty()) …  // nothing shown says it
//   if (!StandsNear(answer, question, shown, rarity)) …            // said, but of something else
//
// Words weigh by how few passages of the context hold them, so none has to be known beforehand, in
// no language. Thread-safety: pure functions.

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

// How many passages of the context hold a word.
struct WordRarity {
  std::uint64_t passages = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> with;  // by WordHash

  // 0 for a word that every passage holds; the more, the rarer it is.
  double Weight(std::uint64_t word) const;
  bool Known(std::uint64_t word) const;   // at least one passage holds it
  bool Common(std::uint64_t word) const;  // a fifth of the passages or more hold it
};

// Of the words of `text` (at most 64 of them), over passages of `documents`.
WordRarity MeasureWords(std::span<const TextDocument> documents, std::string_view text,
                        const CancelToken& cancel);

// The rarest word of `answer` that stands in none of `shown`, if the words that do stand there
// weigh almost nothing beside those that do not. Empty: nothing that matters is missing. Words of
// the question count as shown.
std::string MissingWords(std::string_view answer, std::string_view question,
                         std::span<const std::string> shown, const WordRarity& rarity);

// The words of `text` that are not in the question, each once.
std::vector<std::string_view> WordsBesides(std::string_view text, std::string_view question);

// Whether `answer` says nothing, besides words of the question, that stands in `shown` or
// `passages` and not in many passages: it says that it is not there, or what the writer makes of
// it.
bool TakesNothing(std::string_view answer, std::string_view question,
                  std::span<const std::string> shown, std::string_view passages,
                  const WordRarity& rarity);

// Whether `shown` has all words of the question that few passages hold: the place was seen.
bool ShowsNamed(std::string_view question, std::span<const std::string> shown,
                const WordRarity& rarity);

// Whether the question names what `text` speaks of: most of the weight of its words.
bool IsNamed(std::string_view text, std::string_view question, const WordRarity& rarity);

// False if every place of `shown` that holds the answer's rarest word is running text which says
// next to nothing of what the question names. Values that stand alone, as computed ones do, are
// not judged. Where the context holds no word of the question at all, `unnamed` is the verdict.
enum class Unnamed { kNear, kApart };
bool StandsNear(std::string_view answer, std::string_view question,
                std::span<const std::string> shown, const WordRarity& rarity,
                Unnamed unnamed = Unnamed::kNear);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_NEAR_QUESTION_H_
