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
  // character.
  enum class Status { kVerified, kElsewhere, kNotFound, kOutOfRange, kInRange };
  std::string ref =
      {};  // as the answer writes it: "[log.txt:3-4]"; empty: none goes with the quote
  std::string quote = {};  // empty: a reference alone
  Status status = Status::kNotFound;
  std::string found = {};  // where the quote stands: "[log.txt:3]"

  JsonObject ToJson() const;
};

// In the order of the answer. Waits for the copies of documents if there is something to look up;
// cancelled, what is not looked up yet is left out. An answer that is a JSON value cites nothing:
// its quotes are syntax.
std::vector<Citation> CheckCitations(std::string_view answer, const ContextSet& context,
                                     const CancelToken& cancel);

Json CitationsJson(const std::vector<Citation>& citations);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_CITATIONS_H_
