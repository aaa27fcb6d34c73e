// Whether what an answer cites and quotes stands in the context. No model is asked, and no answer
// is changed or held back.
//
//   for (const Citation& one : CheckCitations(R"("a wet day" [log.txt:3-4])", context, cancel)) {
//     Print(one.ToJson());  // {"ref":"[log.txt:3-4]","quote":"a wet day","status":"verified",…}
//   }
//
// References: `[name:12-30]` and `[name:12]` (lines from 1), `[name@100-220]` (characters from 0,
// the last not included), `Doc 3`, `Doc **3**`, `context[3]` (documents from 0, as the hint counts
// them), and `**3**` where a quote stands in the same paragraph: alone it is a number in bold type.
// Quotes: 10 characters or more in double quotes or single backticks, searched as a whole, without
// regard to case and to the amount of white space. Thread-safety: pure, but for the copies waited
// for.

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

// A quote of the answer, or a reference to a place in the context, and whether it holds.
struct Citation {
  // kInRange: a reference without a quote, to a place that exists. kElsewhere: the quote stands in
  // the context, but not where the reference says. kOutOfRange: no such document, line or
  // character. Of Matching::kExact: kAmbiguous, it stands there more than once; kReindented, its
  // lines are there, but not as deep below one another.
  enum class Status {
    kVerified,
    kElsewhere,
    kNotFound,
    kOutOfRange,
    kInRange,
    kAmbiguous,
    kReindented
  };
  // A part of a document, in bytes.
  struct Place {
    std::size_t document = 0;
    std::uint64_t from = 0, to = 0;
  };
  std::string ref =
      {};  // as the answer writes it: "[log.txt:3-4]"; empty: none goes with the quote
  std::string quote = {};  // empty: a reference alone
  Status status = Status::kNotFound;
  std::string found = {};  // where the quote stands: "[log.txt:3]"
  // Where quote and reference stand in the answer, in bytes; equal: there is none.
  std::size_t quote_at = 0, quote_end = 0, ref_at = 0, ref_end = 0;
  std::size_t paragraph = 0;          // of the answer, from 0
  std::optional<Place> cited, place;  // what the reference names; where the quote stands

  JsonObject ToJson() const;
};

// How a quote has to agree with the text.
//
// kFolded: as above. kExact, for answers that must prove what they say: case counts, words are
// whole, the amount of white space does not count, but the lines of a quote of several lines stay
// as deep below one another; within the lines that a reference names the quote stands exactly once.
// Short quotes in double quotes count, and code in a fence is a quote where a reference goes with
// it.
enum class Matching { kFolded, kExact };

// In the order of the answer. Waits for the copies of documents if there is something to look up;
// cancelled, what is not looked up yet is left out. An answer that is a JSON value cites nothing:
// its quotes are syntax.
std::vector<Citation> CheckCitations(std::string_view answer, const ContextSet& context,
                                     const CancelToken& cancel,
                                     Matching matching = Matching::kFolded);

// `answer` without its references to lines and characters of documents: their numbers say where
// something stands, not what.
std::string WithoutReferences(std::string_view answer, const ContextSet& context);

// Where the paragraphs of a text begin, in bytes: behind blank lines.
std::vector<std::size_t> ParagraphStarts(std::string_view text);

Json CitationsJson(const std::vector<Citation>& citations);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_CITATIONS_H_
