#include "evaluation/score.h"

#include <algorithm>

#include "base/text/text.h"
#include "evaluation/scorers/scorers.h"
#include "evaluation/tasks/dates.h"

namespace dossier::evaluation {
namespace {

using Rule = ScoreReading (*)(const Task& task, std::string_view answer);

struct Scorer {
  std::string_view name;
  Rule official;  // null: a program or a model scores it
  Rule lenient;   // null: the official one is already tolerant
};

constexpr Scorer kScorers[] = {
    {"choice", ScoreChoice, LenientChoice}, {"command", nullptr, nullptr},
    {"contains", ScoreContains, nullptr},   {"date", ScoreDate, nullptr},
    {"exact", ScoreExact, LenientShort},    {"iexact", ScoreExactNoCase, LenientShort},
    {"json", ScoreJson, nullptr},           {"judge", nullptr, nullptr},
    {"lines", ScoreLines, ScoreList},       {"list", ScoreList, nullptr},
    {"near", ScoreNumber, nullptr},         {"number", ScoreNumber, nullptr},
    {"oolong", ScoreOolong, LenientOolong}, {"oolong-real", ScoreOolongReal, LenientShort},
    {"pairs", ScorePairs, nullptr},         {"regex", ScoreRegex, nullptr},
    {"ruler", ScoreRuler, nullptr},         {"set", ScoreSet, ScoreList},
};

std::string WriteOolong(const Task& task, const std::string& gold) {
  const std::string type = TextAt(task.meta, "answer_type");
  if (type.ends_with("LABEL")) return "Label: " + gold;
  if (type.ends_with("USER")) return "User: " + gold;
  if (type.ends_with("DATE")) {
    const auto day = ParseDate(gold);
    return "Date: " + (day ? AnswerDate(*day) : gold);
  }
  if (!type.ends_with("COMPARISON")) return "Answer: " + gold;
  const std::string a = TextAt(task.meta, "a"), b = TextAt(task.meta, "b");
  return a.empty() ? "Answer: " + gold
                   : fmt::format("Answer: {} is {}{}", a, gold, b.empty() ? "" : " " + b);
}

}  // namespace

std::vector<std::string> ScorerNames() {
  std::vector<std::string> names;
  for (const Scorer& scorer : kScorers) names.emplace_back(scorer.name);
  return names;
}

Result<Score> ScoreAnswer(const Task& task, std::string_view answer) {
  const auto* scorer = std::find_if(std::begin(kScorers), std::end(kScorers),
                                    [&](const Scorer& one) { return one.name == task.scorer; });
  if (scorer == std::end(kScorers)) {
    const std::vector<std::string> names = ScorerNames();
    const std::vector<std::string> nearest = NearestNames(task.scorer, names);
    return MakeError(ErrorCode::kConfig, "{}: there is no scorer {}; {}", task.id, task.scorer,
                     "known are " + Join(nearest.empty() ? names : nearest, ", "));
  }
  if (scorer->official == nullptr) {
    return MakeError(ErrorCode::kUnavailable, "{}: {} is no rule but a call; the runner makes it",
                     task.id, task.scorer);
  }
  if (!task.gold.is_array() || GoldOf(task).size() != task.gold.get_array().size()) {
    return MakeError(ErrorCode::kDamaged, "{}: its gold is no list of texts", task.id);
  }
  const ScoreReading official = scorer->official(task, answer);
  Score score{.official = official.score,
              .lenient = official.score,
              .parsed = official.parsed,
              .rule = official.rule};
  if (scorer->lenient != nullptr) {
    score.lenient = std::max(score.lenient, scorer->lenient(task, answer).score);
  }
  return score;
}

Result<std::string> WriteAnswer(const Task& task, const Json& gold) {
  if (!gold.is_array()) {
    return MakeError(ErrorCode::kDamaged, "{}: its gold is no list of texts", task.id);
  }
  const std::vector<std::string> texts = StringsOf(&gold);
  if (task.scorer == "oolong" && !texts.empty()) return WriteOolong(task, texts[0]);
  if (task.scorer == "choice" && !texts.empty()) {
    return fmt::format("The correct answer is ({})", texts[0]);
  }
  const bool one_line = task.scorer == "ruler" || task.scorer == "oolong-real";
  return Join(texts, one_line ? ", " : "\n");
}

}  // namespace dossier::evaluation
