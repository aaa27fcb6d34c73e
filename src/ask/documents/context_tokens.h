// Counts the tokens of a context, for people and for estimates: exactly if the model's own
// vocabulary is available and the texts are not huge, otherwise from samples.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ContextTokens size,
//                            CountContext(*request.context, *model.counter, *clock));
//   Print(size.exact ? "" : "about ", size.tokens);
//   if (size.most > window) ReadInParts();
//
// Takes about half a second at most, however large the texts are. Thread-safety: functions.

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
  std::int64_t most = 0;  // to use for budgets; `tokens` if the count is exact
  bool exact = true;
};

// Counts the texts of all documents together. Errors: those of ContextSet::Stored.
Result<ContextTokens> CountContext(const ContextSet& context, const tokens::Counter& counter,
                                   const Clock& clock);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_CONTEXT_TOKENS_H_
