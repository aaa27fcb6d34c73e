// What is checked of an answer before it ends a run. Every check looks at evidence: what was read,
// what was shown, what failed. No word of the question decides.
//
//   Gates gates(context);
//   if (auto refusal = gates.Check(answer, situation)) Tell(refusal->reason);  // kept as draft
//   else if (auto doubt = gates.Doubt(answer, situation)) Flag(*doubt);        // never final
//
// A check refuses once, `unexplored` twice, `reading` and `labels` never; an answer that comes back
// unchanged in kind is let through, and its doubt flags it. Thread-safety: none; one owner.

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

// Share of the context above which all that matters was read: headers and blank lines need not be.
inline constexpr double kAllRead = 0.9;

struct GateContext {
  Forcing forcing = Forcing::kFull;
  ModelPolicy::Checked checked = ModelPolicy::Checked::kNumbers;
  std::string question;
  std::vector<std::string> hint_values;  // what the hint showed as examples, one each
  std::uint64_t context_chars = 0;
};

// The run as it stands when an answer is offered.
struct GateSituation {
  enum class LastChance { kNo, kYes } last_chance = LastChance::kNo;  // last turn, or past a limit
  // Whether a block has read the context or an answered request has seen some of it.
  enum class Explored { kNo, kYes } explored = Explored::kNo;
  // What clean blocks printed out of data, without what their code says itself.
  const std::vector<std::string>* shown = nullptr;
  const std::vector<std::string>* outputs = nullptr;  // of `shown`, without what was handed in
  // Whether outputs show values that stand in the data (ShowsValues). Unset: nobody can tell.
  std::function<bool(std::span<const std::string>)> shows_values;
  const std::vector<std::string>* whole_outputs = nullptr;  // of `outputs`, as code printed them
  // Whether the data hold a word, folded. Unset: nobody can tell.
  std::function<bool(std::string_view)> in_data;
  std::string_view description;  // of the data, as the model was shown it
  // What of the context was read; and how rare the words of question and answer are in all of it,
  // measured where only a part was read.
  Coverage::Shares read{.by_any = 1};
  const WordRarity* all_words = nullptr;
  std::string_view sizes;  // of the context, where code looked at it; an answer may stand on them
  const std::vector<std::string>* unmatched = nullptr;  // conditions that fit nothing in the data
  // Whether the newest output is nothing and proved to be: no spelling was overlooked.
  sandbox::BlockResult::Nothing nothing = sandbox::BlockResult::Nothing::kUnproved;
  std::vector<std::string> gaps;  // what the output that the answer stands in leaves out
  const std::vector<std::string>* code = nullptr;  // that ran
  std::string_view passages;  // the text that the first prompt showed; may be empty
  // What came of it where the passages were read one by one: none states an answer, or the model
  // is not sure which of `readings` is about what was asked.
  enum class Passages { kNotRead, kStateNothing, kUnclear } passages_read = Passages::kNotRead;
  std::vector<std::string> readings;
  std::vector<std::string> likely_numbers;  // of these, numbers that the model rather believes
  const std::vector<std::string>* searched = nullptr;  // what the newest code looked for in texts
  std::string day;       // to which code keeps though nothing names it (Evidence::UnnamedDay)
  std::string mentions;  // a text whose mentions the answer counts, which is not what is asked
  std::string
      left_out;  // a value of the data that the question names and no code says; may be empty
  // A document that the question names, unread by code, without what the answer says; may be empty.
  std::string unread;
  const WordRarity* rarity = nullptr;  // of the words of question and answer; null: not measured
  // "3 of 40 failed (3 cut)", if the model was not told of them yet, or if all those of the newest
  // block failed.
  std::string failed_subcalls;
  // Whether map_llm could not tell the texts of one label well from those of the other.
  enum class Labels { kSure, kUnsure } labels = Labels::kSure;
  Offer::Quoted quoted = Offer::Quoted::kNo;  // whether the whole answer is a quotation
  std::vector<std::string> error_texts;       // what code was told of sub-calls that failed
  AnswerKind wanted = AnswerKind::kUnknown;   // what the model itself says is asked for
};

// Whether outputs hold several words of the data, besides words of the question and the names of
// fields. `in_data` tells whether the data hold a word.
bool ShowsValues(std::span<const std::string> outputs, std::string_view question,
                 const std::set<std::string, std::less<>>& fields,
                 const std::function<bool(std::string_view)>& in_data);

struct Refusal {
  // unexplored, error_text, subcalls, kind, empty, part, gaps, searched, left_out, grounding, near,
  // reading, labels
  std::string gate;
  std::string reason;  // what is wrong, in one or two sentences for the model
};

// The reason of a refusal as people read it: without what the model should do next.
std::string WithoutAdvice(std::string reason);

class Gates {
 public:
  explicit Gates(GateContext context) : context_(std::move(context)) {}
  std::optional<Refusal> Check(std::string_view answer, const GateSituation& situation);
  // What still speaks against an answer that Check let through.
  std::optional<Refusal> Doubt(std::string_view answer, const GateSituation& situation) const;
  // A new attempt has no outputs yet, so none of them came after a refusal.
  void StartAfresh() { outputs_when_empty_.reset(); }

 private:
  // The first check that the answer fails, of those that may still refuse or of all.
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
  std::string Ungrounded(std::string_view answer, const GateSituation& situation) const;
  std::string UnsureLabels(std::string_view answer, const GateSituation& situation) const;
  std::string SearchedElse(std::string_view answer, const GateSituation& situation) const;
  std::string ContradictsReading(std::string_view answer, const GateSituation& situation) const;
  std::string UnclearReading(std::string_view answer, const GateSituation& situation) const;
  std::string ValueLeftOut(std::string_view answer, const GateSituation& situation) const;
  std::string NotNear(std::string_view answer, const GateSituation& situation) const;

  const GateContext context_;
  std::map<std::string, int, std::less<>> refused_;
  std::optional<std::size_t> outputs_when_empty_;  // how many, when an empty result was refused
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_GATES_H_
