// Whether an answer proves what it says: each quote stands where it is said to, each number in lines
// that the answer cites or in what code found. For callers that ask for evidence (--citations strict
// and require); reply/citations.h reads the answer.
//
//   const std::vector<Proof> found = FindEvidence({.answer = text, .question = question, .context = &context,
//                                         .printed = outputs}, cancel);
//   if (std::string wrong = ComplaintOf(found, Demand::kAll); !wrong.empty()) AskAgain(wrong);
//
// Thread-safety: pure, but for the copies waited for.

#ifndef DOSSIER_ASK_CLAIMS_PROOF_H_
#define DOSSIER_ASK_CLAIMS_PROOF_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ask/documents/context_set.h"
#include "ask/reply/citations.h"
#include "ask/reply/requirement.h"
#include "base/cancel.h"
#include "base/json/json.h"

namespace dossier::ask {

// kHeld: what is cited holds. kAll: that, and each quote and number has evidence.
enum class Demand { kHeld, kAll };

// One claim of an answer and what proves it.
struct Proof {
  enum class Kind { kQuote, kNumber, kReference } kind = Kind::kQuote;
  // kCited: in the place that the answer names. kFound: a quote without a reference that stands in
  // the context. kPrinted: code showed it, out of data. kAsked: the question says it.
  enum class By { kNothing, kCited, kFound, kPrinted, kAsked } by = By::kNothing;
  std::string claim, ref;  // as the answer writes them
  std::string document;    // where it is proved by the context; with
  std::uint64_t from = 0, to = 0;  // its bytes
  std::string problem;             // why it is not, in a sentence; empty: it is proved

  // {"kind", "claim", "status", "ref", "document", "bytes", "problem"}
  JsonObject ToJson() const;
};

struct ProofInput {
  std::string_view answer, question;
  const ContextSet* context = nullptr;
  std::span<const std::string> printed;  // by code, out of data
};
// In the order of the answer. Of an answer that is a JSON value only the numbers are claims.
std::vector<Proof> FindEvidence(const ProofInput& input, const CancelToken& cancel);

// What is wrong, for the model; empty: the answer is as demanded.
std::string ComplaintOf(std::span<const Proof> proofs, Demand demand);

// As a requirement of an answer, which may be mended once. `context` is that of the run.
Requirement RequireEvidence(Demand demand, std::string question,
                            std::shared_ptr<const ContextSet> context);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_CLAIMS_PROOF_H_
