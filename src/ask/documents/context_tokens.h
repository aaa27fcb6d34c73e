// How many tokens a context has, for people and for estimates: exact where a model's own vocabulary
// is here and the texts are not huge, else from pieces of them.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ContextTokens size,
//                            CountContext(*request.context, *model.counter, *clock));
//   Print(size.exact ? "" : "about ", size.tokens);
//   if (size.most > window) ReadInParts();
//
// Effort: about half a second at the most, however large the texts are.
// Thread-safety: functions.

#ifndef DOSSIER_ASK_DOCUMENTS_CONTEXT_TOKENS_H_
#define DOSSIER_ASK_DOCUMENTS_CONTEXT_TOKENS_H_

#include <cstdint>

#include "ask/documents/context_set.h"
#include "base/clock.h"
#include "base/result.h"
#include "tokens/counter/counter.h"

namespace dossier::ask {

struct ContextTokens {
  std::int64_t tokens = 0;
  std::int64_t most = 0;  // what budgets are made with; `tokens` where the count is exact
  bool exact = true;
};

// Of the texts of all documents together. Errors: those of ContextSet::Stored.
Result<ContextTokens> CountContext(const ContextSet& context, const tokens::Counter& counter,
                                   const Clock& clock);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_CONTEXT_TOKENS_H_
