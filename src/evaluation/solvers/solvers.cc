#include "evaluation/solvers/solvers.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text/text.h"
#include "evaluation/family.h"
#include "evaluation/score.h"
#include "evaluation/tasks/stream.h"

namespace dossier::evaluation {
namespace {

constexpr std::array<std::string_view, 4> kNames{"oracle", "floor", "blind", "chance"};

Result<Json> OracleGold(const Task& task, const TaskSet& set, const Relabel& relabel) {
  DOSSIER_ASSIGN_OR_RETURN(const Family* family, FindFamily(task.family));
  return family->Recompute(task, set, relabel);
}

Result<std::string> SolveByWords(const Task& task, const TaskSet& set) {
  std::vector<std::string> labels = LabelsOf(task, set);
  if (labels.empty()) return std::string();
  const auto gold = OracleGold(task, set, ByWords(std::move(labels)));
  // With wrong labels a question may not have a single answer.
  if (!gold)
    return gold.error().code == ErrorCode::kCheckFailed ? Result<std::string>("")
                                                        : tl::unexpected(gold.error());
  return WriteAnswer(task, *gold);
}

// Returns the valid answers that the question itself names.
std::vector<std::string> LegalAnswers(const Task& task) {
  std::vector<std::string> choices = StringsOf(Find(task.meta, "choices"));
  if (!choices.empty()) return choices;
  const std::string type = TextAt(task.meta, "answer_type");
  if (type.ends_with("COMPARISON")) {
    const bool periods = TextAt(task.meta, "b").empty();
    return periods ? std::vector<std::string>{"less common", "more common"}
                   : std::vector<std::string>{"less common than", "more common than"};
  }
  return {};
}

Result<std::string> Guess(const Task& task, std::size_t which) {
  const std::vector<std::string> legal = LegalAnswers(task);
  if (legal.empty()) return std::string("Answer: 1");
  return WriteAnswer(task, JsonArray{Json(legal[which % legal.size()])});
}

}  // namespace

std::vector<std::string> LabelsOf(const Task& task, const TaskSet& set) {
  const auto labelled = set.ReadLabelled(task.contexts[0]);
  std::set<std::string, std::less<>> labels;
  if (!labelled) return {};
  for (const std::string_view line : Split(*labelled, '\n')) {
    constexpr std::string_view kMark = " || Label: ";
    const std::size_t at = line.rfind(kMark);
    if (at == std::string_view::npos) continue;
    const std::string_view label = line.substr(at + kMark.size());
    if (!labels.contains(label)) labels.emplace(label);
  }
  return {labels.begin(), labels.end()};
}

Relabel ByWords(std::vector<std::string> labels) {
  return [labels = std::move(labels)](const std::string& text, const std::string&) {
    const std::string lower = ToLowerAscii(text);
    for (const std::string& label : labels) {
      if (lower.find(ToLowerAscii(label)) != std::string::npos) return label;
    }
    return labels.front();
  };
}

std::optional<Solver> SolverByName(std::string_view name) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Solver>(found - kNames.begin());
}

Result<std::string> Solve(Solver solver, const Task& task, const TaskSet& set) {
  switch (solver) {
    case Solver::kOracle: {
      DOSSIER_ASSIGN_OR_RETURN(const Json gold, OracleGold(task, set, {}));
      return WriteAnswer(task, gold);
    }
    case Solver::kFloor:
      return task.needs == Needs::kLabel ? SolveByWords(task, set) : Guess(task, 0);
    case Solver::kBlind:
      return Guess(task, 0);
    case Solver::kChance: {
      RandomStream stream = RandomStream::For(task.family, set.manifest.seed, "chance/" + task.id);
      return Guess(task, static_cast<std::size_t>(stream.Below(1 << 20)));
    }
  }
  return std::string();
}

}  // namespace dossier::evaluation
