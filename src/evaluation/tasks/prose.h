// Filler texts for tasks: paragraphs, words and names, and the largest text that fits.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Prose prose, Prose::Open(haystack_file));
//   prose.Paragraph(&stream);
//   const std::int64_t units = LargestThatFits(limit, 1, counter, make);   // make(units) fits
//
// Thread-safety: immutable after construction; functions are pure.

#ifndef DOSSIER_EVALUATION_TASKS_PROSE_H_
#define DOSSIER_EVALUATION_TASKS_PROSE_H_

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "evaluation/tasks/stream.h"
#include "tokens/counter/counter.h"

namespace dossier::evaluation {

class Prose {
 public:
  // Uses the paragraphs of a file in a cycle; "": generated sentences. Errors: those of the file;
  // kConfig if it has no paragraph.
  static Result<Prose> Open(const std::string& path);

  // Returns the paragraph at `number` of a text; without a file, `stream` is used to make it.
  std::string Paragraph(std::size_t number, RandomStream* stream) const;

 private:
  std::vector<std::string> paragraphs_;
};

// Returns the key at `index`, such as "brisk-lantern"; every index gives a different one.
std::string KeyWord(std::size_t index);
// Returns a made-up word, such as "tavoli"; every index below kMadeWords gives a different one.
std::string MadeWord(std::size_t index);
inline constexpr std::size_t kMadeWords = 343'000;
// Returns a person, such as "Ines Harlow"; every index below kPersonNames gives another one.
std::string PersonName(std::size_t index);
inline constexpr std::size_t kPersonNames = 552;

// Returns the largest number of units, at least `least`, for which make(units) has at most `limit`
// tokens; `least` - 1 if none fits. More units must never make a text shorter.
std::int64_t LargestThatFits(std::int64_t limit, std::int64_t least, const tokens::Counter& counter,
                             const std::function<std::string(std::int64_t units)>& make);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_TASKS_PROSE_H_
