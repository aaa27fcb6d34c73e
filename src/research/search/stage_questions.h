// The questions about a whole stage that the run's manager asks a model.
//
//   DOSSIER_ASSIGN_OR_RETURN(const StageCompletion answer, AskCompletion(driver, view, cancel));
//   if (answer.state == StageCompletion::State::kComplete) break;
//
// An invalid reply gives a warning and the cautious answer: not complete, not ready, the main
// goals, the best by metric, no text. Errors: those of RoleCaller::Call.
//
// Thread-safety: called only by the run's thread.

#ifndef DOSSIER_RESEARCH_SEARCH_STAGE_QUESTIONS_H_
#define DOSSIER_RESEARCH_SEARCH_STAGE_QUESTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "research/node/driver.h"
#include "research/tree/node.h"

namespace dossier::research {

// The state of a stage at the time of a question.
struct StageView {
  int stage = 1;           // 1 to 4
  std::string name;        // name of the substage
  std::int64_t round = 0;  // rounds made; part of the question's name
  const Tree* tree = nullptr;
  const Node* best = nullptr;  // null: none
  std::string goals;           // goals of the substage
};

std::string_view MainGoals(int stage);

struct StageCompletion {
  enum class State : std::uint8_t { kNotComplete, kComplete } state = State::kNotComplete;
  std::string reasoning;
};
Result<StageCompletion> AskCompletion(const Driver& driver, const StageView& view,
                                      const CancelToken& cancel);

enum class Progression : std::uint8_t { kNextStage, kSubstage };
Result<Progression> AskProgression(const Driver& driver, const StageView& view,
                                   const CancelToken& cancel);

struct SubstageGoal {
  std::string name = "next_attempt", goals;
  std::optional<std::int64_t> max_iterations;
};
Result<SubstageGoal> AskSubstageGoal(const Driver& driver, const StageView& view,
                                     const CancelToken& cancel);

// Returns the best good node; a model is asked if there are several. "": there is none.
Result<std::string> ChooseBest(const Driver& driver, const StageView& view,
                               const CancelToken& cancel);

struct StageTexts {
  std::string summary, notes;  // from journal_summary and stage_notes; "": none
};
Result<StageTexts> AskStageTexts(const Driver& driver, const StageView& view,
                                 const CancelToken& cancel);

// Returns the run's evaluation metrics; "": no answer.
Result<std::string> AskMetrics(const Driver& driver, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_STAGE_QUESTIONS_H_
