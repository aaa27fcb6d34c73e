// Checks whether an answer proves what it says: each quote must be at its cited place, each number
// in lines that the answer cites or in what code found. For callers that ask for evidence
// (--citations strict and require); reply/citations.h parses the answer.
//
//   const std::vector<Proof> found = FindEvidence({.answer = text, .question = question, .context =
//   &context,
//                                         .printed = outputs}, cancel);
//   if (std::string wrong = ComplaintOf(found, Demand::kAll); !wrong.empty()) AskAgain(wrong);
//
// Thread-safety: pure, except that it waits for copies.

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

// kHeld: citations must be true. kAll: in addition each quote and number must have evidence.
enum class Demand { kHeld, kAll };

// One claim of an answer and its proof.
struct Proof {
  enum class Kind { kQuote, kNumber, kReference } kind = Kind::kQuote;
  // kCited: at the place that the answer cites. kFound: a quote without a reference that is in the
  // context. kPrinted: code showed it, from data. kAsked: the question says it.
  enum class By { kNothing, kCited, kFound, kPrinted, kAsked } by = By::kNothing;
  std::string claim, ref;          // as written in the answer
  std::string document;            // proves the claim; empty: none
  std::uint64_t from = 0, to = 0;  // byte range of the proof in `document`
  std::string problem;             // why it is not proved, in a sentence; empty: it is proved

  // {"kind", "claim", "status", "ref", "document", "bytes", "problem"}
  JsonObject ToJson() const;
};

struct ProofInput {
  std::string_view answer, question;
  const ContextSet* context = nullptr;
  std::span<const std::string> printed;  // by code, from data
};
// In the answer's order. For an answer that is a JSON value only the numbers are claims.
std::vector<Proof> FindEvidence(const ProofInput& input, const CancelToken& cancel);

// Returns what is wrong, for the model; empty: the answer meets the demand.
std::string ComplaintOf(std::span<const Proof> proofs, Demand demand);

// Makes a requirement that allows one correction. `context` is the run's context.
Requirement RequireEvidence(Demand demand, std::string question,
                            std::shared_ptr<const ContextSet> context);

// Requires that code showed each number, from data; numbers of the question are exempt.
Requirement RequireComputedNumbers(std::string question);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_CLAIMS_PROOF_H_
