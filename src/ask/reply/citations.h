// Checks whether the citations and quotes of an answer occur in the context. No model is asked, and
// no answer is changed or held back.
//
//   for (const Citation& one : CheckCitations(R"("a wet day" [log.txt:3-4])", context, cancel)) {
//     Print(one.ToJson());  // {"ref":"[log.txt:3-4]","quote":"a wet day","status":"verified",…}
//   }
//
// References: `[name:12-30]` and `[name:12]` (lines from 1), `[name@100-220]` (characters from 0,
// end exclusive), `Doc 3`, `Doc **3**`, `context[3]` (documents from 0, numbered as in the hint),
// and `**3**` if the same paragraph has a quote; alone it is a bold number. Quotes: 10 characters
// or more in double quotes or single backticks, searched as a whole, ignoring case and the amount
// of white space. Thread-safety: pure, except that it waits for copies.

#ifndef DOSSIER_ASK_REPLY_CITATIONS_H_
#define DOSSIER_ASK_REPLY_CITATIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/documents/context_set.h"
#include "base/cancel.h"
#include "base/json/json.h"

namespace dossier::ask {

// A quote of the answer, or a reference to a place in the context, with the result of its check.
struct Citation {
  // kInRange: a reference without a quote, to an existing place. kElsewhere: the quote is in the
  // context, but not at the referenced place. kOutOfRange: no such document, line or character.
  // Only with Matching::kExact: kAmbiguous, the quote occurs there more than once; kReindented, its
  // lines are there, but with different relative indentation.
  enum class Status {
    kVerified,
    kElsewhere,
    kNotFound,
    kOutOfRange,
    kInRange,
    kAmbiguous,
    kReindented
  };
  // A byte range of a document.
  struct Place {
    std::size_t document = 0;
    std::uint64_t from = 0, to = 0;
  };
  std::string ref = {};    // as in the answer: "[log.txt:3-4]"; empty: the quote has none
  std::string quote = {};  // empty: only a reference
  Status status = Status::kNotFound;
  std::string found = {};  // place of the quote: "[log.txt:3]"
  // Byte ranges of quote and reference in the answer; an empty range: there is none.
  std::size_t quote_at = 0, quote_end = 0, ref_at = 0, ref_end = 0;
  std::size_t paragraph = 0;          // in the answer, from 0
  std::optional<Place> cited, place;  // the referenced place; the quote's place

  JsonObject ToJson() const;
};

// The way a quote must match the text.
//
// kFolded: as above. kExact, for answers that must prove what they say: case matters, words must be
// whole, and the amount of white space is ignored, but the lines of a multi-line quote keep their
// relative indentation; within the referenced lines the quote must occur exactly once. Short quotes
// in double quotes count, and fenced code with a reference is a quote.
enum class Matching { kFolded, kExact };

// Returns the citations in the answer's order. Waits for the copies of documents if needed; when
// cancelled, citations not checked yet are left out. An answer that is a JSON value cites nothing,
// because its quotes are syntax.
std::vector<Citation> CheckCitations(std::string_view answer, const ContextSet& context,
                                     const CancelToken& cancel,
                                     Matching matching = Matching::kFolded);

// Returns `answer` without its references to lines and characters of documents, because their
// numbers are places and no claims.
std::string WithoutReferences(std::string_view answer, const ContextSet& context);

// Returns the byte offsets at which the paragraphs of a text begin, after blank lines.
std::vector<std::size_t> ParagraphStarts(std::string_view text);

Json CitationsJson(const std::vector<Citation>& citations);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_CITATIONS_H_
