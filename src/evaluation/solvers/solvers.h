// Solvers without a model. They say what a task is worth: a score that chance, counting of words or
// a look at the question alone reaches proves nothing about a system.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string answer, Solve(Solver::kOracle, task, set));
//   ScoreAnswer(task, answer)->official;   // 1.0 for the oracle, on every task
//
// Thread-safety: functions over files that are only read.

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
  kFloor,   // counts the words of labels
  kBlind,   // sees the question only
  kChance,  // draws one of the legal answers
};

std::optional<Solver> SolverByName(std::string_view name);  // "oracle", "floor", "blind", "chance"

// The answer, in the form that the question asks for; "" where a solver has none. Errors: those of
// the second gold path.
Result<std::string> Solve(Solver solver, const Task& task, const TaskSet& set);

// The labels that the labelled twin of the task's window holds, in byte order; none without a twin.
std::vector<std::string> LabelsOf(const Task& task, const TaskSet& set);
// What floor goes by: a text has the label whose word it holds, else the first of `labels`.
Relabel ByWords(std::vector<std::string> labels);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_SOLVERS_SOLVERS_H_
