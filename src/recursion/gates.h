// The gates an answer passes before it ends a run: each refuses at most once (REC-36, 39 to 41).
//
//   Gates gates(options);
//   if (auto refusal = gates.Check(answer)) Tell(refusal->reason);   // and keep the answer as
//   draft
//
// Thread-safety: none; one owner.

#ifndef DOSSIER_RECURSION_GATES_H_
#define DOSSIER_RECURSION_GATES_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "recursion/engine.h"
#include "recursion/question_kind.h"

namespace dossier::recursion {

struct GateContext {
  Forcing forcing = Forcing::kFull;
  Profile profile = Profile::kLarge;
  QuestionKind kind = QuestionKind::kLookup;
  std::string question;
  std::vector<std::string> hint_values;  // what the hint showed as examples, one each
  std::uint64_t context_chars = 0;
  std::uint64_t context_records = 0;  // 0: not all of the context is records
  int depth = 1;
};

// The run as it stands when an answer is offered.
struct GateSituation {
  int clean_blocks = 0;  // blocks that ran without error so far
  enum class LastChance { kNo, kYes } last_chance = LastChance::kNo;  // last turn, or past a limit
  double coverage = 0;                                                // 0 to 1
  enum class SubcallsUsed { kNo, kYes } subcalls = SubcallsUsed::kNo;
  const std::vector<std::string>* printed = nullptr;  // what clean blocks printed
};

struct Refusal {
  std::string gate;    // first_turn, grounding, coverage
  std::string reason;  // one or two sentences for the model
};

class Gates {
 public:
  explicit Gates(GateContext context) : context_(std::move(context)) {}
  std::optional<Refusal> Check(std::string_view answer, const GateSituation& situation);
  // Why an answer that passed, because the grounding gate has refused already or may not, is still
  // not to be trusted; empty if nothing speaks against it. Never refuses (REC-41).
  std::string Doubt(std::string_view answer, const GateSituation& situation) const;
  // "passed", "refused" (once, then accepted) or "off".
  std::string coverage_state() const { return coverage_state_; }

 private:
  std::optional<Refusal> CheckFirstTurn(const GateSituation& situation) const;
  std::optional<Refusal> CheckGrounding(std::string_view answer,
                                        const GateSituation& situation) const;
  // What no output shows, as a sentence; empty if all is grounded or the gate is not for this run.
  std::string Ungrounded(std::string_view answer, const GateSituation& situation) const;
  std::optional<Refusal> CheckCoverage(const GateSituation& situation);

  const GateContext context_;
  std::set<std::string> used_;
  std::string coverage_state_ = "off";
};

}  // namespace dossier::recursion

#endif  // DOSSIER_RECURSION_GATES_H_
