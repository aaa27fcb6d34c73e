// Scores an answer by the published rule of its task, and by a second, tolerant reading.
//
//   DOSSIER_ASSIGN_OR_RETURN(Score score, ScoreAnswer(task, "Label: ham"));
//   score.official;   // 1.0: what counts
//   score.lenient;    // 1.0: what a patient reader would have given
//
// Thread-safety: pure functions.

#ifndef DOSSIER_EVALUATION_SCORE_H_
#define DOSSIER_EVALUATION_SCORE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "evaluation/task.h"

namespace dossier::evaluation {

struct Score {
  double official = 0, lenient = 0;  // 0 to 1
  std::string parsed;                // the answer as the official rule read it
  std::string rule;  // the step of the rule that decided: "equal", "phrase", "number", "none", …
};

// Longer answers count as "dumped": they print the context instead of an answer.
inline constexpr std::size_t kDumpedCharacters = 2000;

// Errors: kConfig for an unknown scorer, with the nearest name; kDamaged for gold of a wrong type.
// Scorers that run a program or a model (`command`, `judge`) give kUnavailable here.
Result<Score> ScoreAnswer(const Task& task, std::string_view answer);

// Returns the names of all scorers, sorted.
std::vector<std::string> ScorerNames();

// Writes `gold` as a perfect answer to `task`, in the form that its question asks for.
Result<std::string> WriteAnswer(const Task& task, const Json& gold);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_SCORE_H_
