// Checks an answer before it ends a run. Every check looks at evidence: what was read, what was
// shown, what failed. No check depends on particular words of the question.
//
//   Gates gates(context);
//   if (auto refusal = gates.Check(answer, situation)) Tell(refusal->reason);  // kept as draft
//   else if (auto doubt = gates.Doubt(answer, situation)) Flag(*doubt);        // never final
//
// A check refuses once, `unexplored` twice, `reading` and `labels` never. An answer that comes back
// essentially unchanged is accepted, but flagged with a doubt. Thread-safety: none; one owner.

#ifndef DOSSIER_ASK_POLICY_GATES_H_
#define DOSSIER_ASK_POLICY_GATES_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ask/engine.h"
#include "ask/policy/coverage.h"
#include "ask/policy/grounding.h"
#include "ask/policy/model_policy.h"
#include "ask/policy/near_question.h"
#include "ask/policy/offer.h"
#include "sandbox/session/session.h"

namespace dossier::ask {

// Share of the context that counts as all of it: headers and blank lines need not be read.
inline constexpr double kAllRead = 0.9;

struct GateContext {
  Forcing forcing = Forcing::kFull;
  ModelPolicy::Checked checked = ModelPolicy::Checked::kNumbers;
  std::string question;
  std::vector<std::string> hint_values;  // the example values in the hint
  std::uint64_t context_chars = 0;
};

// The state of the run when an answer is offered.
struct GateSituation {
  enum class LastChance { kNo, kYes } last_chance = LastChance::kNo;  // last turn, or past a limit
  // Whether a block has read the context or an answered request has seen part of it.
  enum class Explored { kNo, kYes } explored = Explored::kNo;
  // The output of clean blocks from data, without texts that their code contains.
  const std::vector<std::string>* shown = nullptr;
  const std::vector<std::string>* outputs = nullptr;  // `shown` without answers that were handed in
  // Returns true if outputs show values that occur in the data (ShowsValues). Unset: unknown.
  std::function<bool(std::span<const std::string>)> shows_values;
  const std::vector<std::string>* whole_outputs = nullptr;  // `outputs` exactly as printed
  // Returns true if the data contain a word (case-folded). Unset: unknown.
  std::function<bool(std::string_view)> in_data;
  std::string_view description;  // of the data, as shown to the model
  // The shares of the context that were read, and how rare the words of question and answer are in
  // all of it, measured if only a part was read.
  Coverage::Shares read{.by_any = 1};
  const WordRarity* all_words = nullptr;
  std::string_view sizes;  // of the context, if code looked at it; may support an answer
  const std::vector<std::string>* unmatched = nullptr;  // conditions that match nothing in the data
  // Whether the newest output is empty and proved to be right: no spelling was overlooked.
  sandbox::BlockResult::Nothing nothing = sandbox::BlockResult::Nothing::kUnproved;
  std::vector<std::string> gaps;  // what the output that contains the answer leaves out
  const std::vector<std::string>* code = nullptr;  // the code that ran
  std::string_view passages;  // text of the passages in the first prompt; may be empty
  // Result of reading the passages one by one: none states an answer, or the model is not sure
  // which of `readings` is about the question.
  enum class Passages { kNotRead, kStateNothing, kUnclear } passages_read = Passages::kNotRead;
  std::vector<std::string> readings;
  std::vector<std::string> likely_numbers;  // numbers in `readings` that the model tends to believe
  const std::vector<std::string>* searched = nullptr;  // what the newest code searched for in texts
  std::string day;       // date that limits the code unasked (Evidence::UnnamedDay)
  std::string mentions;  // a text whose mentions the answer counts though not asked to
  std::string
      left_out;  // a value of the data that the question names and no code says; may be empty
  std::string unread;  // why the answer is not from the document that is named; may be empty
  bool explained = true;  // no sub-call was made, or the model has quoted words of the data
  const WordRarity* rarity = nullptr;  // of the words of question and answer; null: not measured
  // Such as "3 of 40 failed (3 cut)": failures not yet reported to the model, or set if all
  // sub-calls of the newest block failed.
  std::string failed_subcalls;
  // Whether map_llm could separate the texts of one label well from those of the other.
  enum class Labels { kSure, kUnsure } labels = Labels::kSure;
  Offer::Quoted quoted = Offer::Quoted::kNo;  // whether the whole answer is a quotation
  std::vector<std::string> error_texts;       // error messages that code got for failed sub-calls
  AnswerKind wanted = AnswerKind::kUnknown;   // what the question asks for, by the model's own word
};

// Returns true if outputs contain several words of the data besides words of the question and field
// names. `in_data` tells whether the data contain a word.
bool ShowsValues(std::span<const std::string> outputs, std::string_view question,
                 const std::set<std::string, std::less<>>& fields,
                 const std::function<bool(std::string_view)>& in_data);

struct Refusal {
  // unexplored, error_text, subcalls, kind, empty, part, gaps, searched, left_out, grounding, near,
  // reading, labels
  std::string gate;
  std::string reason;  // what is wrong, in 1-2 sentences for the model
};

// Returns the refusal's reason for people, without the advice on what the model should do next.
std::string WithoutAdvice(std::string reason);

class Gates {
 public:
  explicit Gates(GateContext context) : context_(std::move(context)) {}
  std::optional<Refusal> Check(std::string_view answer, const GateSituation& situation);
  // Returns the remaining objection to an answer that Check accepted.
  std::optional<Refusal> Doubt(std::string_view answer, const GateSituation& situation) const;
  // Starts a new attempt: it has no outputs yet, so none came after a refusal.
  void StartAfresh() { outputs_when_empty_.reset(); }

 private:
  // Returns the first check that the answer fails, of those that may still refuse or of all.
  enum class Which { kUnused, kAll };
  std::optional<Refusal> FirstFailed(std::string_view answer, const GateSituation& situation,
                                     Which which) const;
  bool IsSmall() const;
  bool StandsOnLittle(std::string_view answer, const GateSituation& situation) const;
  std::string Unexplored(std::string_view answer, const GateSituation& situation) const;
  std::string ErrorText(std::string_view answer, const GateSituation& situation) const;
  std::string LostSubcalls(std::string_view answer, const GateSituation& situation) const;
  bool TellsNothing(std::string_view answer, const GateSituation& situation) const;
  bool LookedAgain(const GateSituation& situation) const;
  std::string EmptyResult(std::string_view answer, const GateSituation& situation) const;
  std::string ReadInPart(std::string_view answer, const GateSituation& situation) const;
  std::string LeavesOut(std::string_view answer, const GateSituation& situation) const;
  std::string WrongKind(std::string_view answer, const GateSituation& situation) const;
  std::string UnshownNumbers(std::string_view answer, std::span<const std::string> evidence,
                             const GateSituation& situation) const;
  std::string WithoutNeedlessZeros(std::string_view answer, const GateSituation& situation) const;
  bool DeniesWhatIsUnknown(std::string_view answer, const GateSituation& situation) const;
  std::string UnshownNames(std::string_view answer, std::span<const std::string> evidence,
                           const GateSituation& situation) const;
  bool Refused(std::string_view gate) const { return refused_.contains(gate); }
  std::string OnlyModelsSay(std::string_view answer, const GateSituation& situation) const;
  std::string Ungrounded(std::string_view answer, const GateSituation& situation) const;
  std::string UnsureLabels(std::string_view answer, const GateSituation& situation) const;
  std::string SearchedElse(std::string_view answer, const GateSituation& situation) const;
  std::string ContradictsReading(std::string_view answer, const GateSituation& situation) const;
  std::string UnclearReading(std::string_view answer, const GateSituation& situation) const;
  std::string ValueLeftOut(std::string_view answer, const GateSituation& situation) const;
  std::string NotNear(std::string_view answer, const GateSituation& situation) const;

  const GateContext context_;
  std::map<std::string, int, std::less<>> refused_;
  std::optional<std::size_t> outputs_when_empty_;  // their number when an empty result was refused
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_GATES_H_
