// Solvers without a model. They show how much a task proves: a score that chance, counting words or
// the question alone can reach says nothing about a system.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string answer, Solve(Solver::kOracle, task, set));
//   ScoreAnswer(task, answer)->official;   // 1.0 for the oracle, on every task
//
// Thread-safety: functions that only read files.

#ifndef DOSSIER_EVALUATION_SOLVERS_SOLVERS_H_
#define DOSSIER_EVALUATION_SOLVERS_SOLVERS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "evaluation/family.h"
#include "evaluation/task.h"

namespace dossier::evaluation {

enum class Solver : std::uint8_t {
  kOracle,  // reads the labelled files
  kFloor,   // counts words of the labels
  kBlind,   // sees only the question
  kChance,  // draws one of the valid answers
};

std::optional<Solver> SolverByName(std::string_view name);  // "oracle", "floor", "blind", "chance"

// Returns the answer in the form that the question asks for, or "" if the solver has none. Errors:
// those of the second gold path.
Result<std::string> Solve(Solver solver, const Task& task, const TaskSet& set);

// Returns the labels in the labelled twin of the window, in byte order; empty without a twin.
std::vector<std::string> LabelsOf(const Task& task, const TaskSet& set);
// The floor solver's rule: a text has the label whose word it contains, else the first one.
Relabel ByWords(std::vector<std::string> labels);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_SOLVERS_SOLVERS_H_
