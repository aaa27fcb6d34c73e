// The rules of scoring, one function each; score.h is the way in.
//
//   const ScoreReading reading = ScoreOolong(task, "Label: ham");   // {1.0, "ham", "equal"}
//
// A rule reads the answer exactly as its published code does, oddities too, so that scores can be
// compared with those that others print. `lenient` is another reading beside it, never in its
// place. Thread-safety: pure functions.

#ifndef DOSSIER_EVALUATION_SCORERS_SCORERS_H_
#define DOSSIER_EVALUATION_SCORERS_SCORERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/task.h"

namespace dossier::evaluation {

struct ScoreReading {
  double score = 0;
  std::string parsed, rule;
};

// Published rules.
ScoreReading ScoreOolong(const Task& task, std::string_view answer);
ScoreReading ScoreOolongReal(const Task& task, std::string_view answer);
ScoreReading ScorePairs(const Task& task, std::string_view answer);
ScoreReading ScoreRuler(const Task& task, std::string_view answer);
ScoreReading ScoreChoice(const Task& task, std::string_view answer);
// Own rules, over lists, lines and questions of users.
ScoreReading ScoreList(const Task& task, std::string_view answer);
ScoreReading ScoreLines(const Task& task, std::string_view answer);
ScoreReading ScoreSet(const Task& task, std::string_view answer);
ScoreReading ScoreExact(const Task& task, std::string_view answer);
ScoreReading ScoreExactNoCase(const Task& task, std::string_view answer);
ScoreReading ScoreContains(const Task& task, std::string_view answer);
ScoreReading ScoreNumber(const Task& task, std::string_view answer);  // `near` too: meta.tolerance
ScoreReading ScoreDate(const Task& task, std::string_view answer);
ScoreReading ScoreRegex(const Task& task, std::string_view answer);
ScoreReading ScoreJson(const Task& task, std::string_view answer);

// Tolerant readings.
ScoreReading LenientOolong(const Task& task, std::string_view answer);
ScoreReading LenientChoice(const Task& task, std::string_view answer);
ScoreReading LenientShort(const Task& task, std::string_view answer);  // number, date, list, text

// What the rules share.
std::vector<std::string> GoldOf(const Task& task);
std::string FirstGold(const Task& task);
// As Python's str.strip(): white space of Unicode at both ends.
std::string_view PythonStrip(std::string_view text);
// As Python's int() of a text: sign, digits of any script, single underscores between them.
std::optional<std::int64_t> PythonInt(std::string_view text);
// 0.75 to the power of the distance.
double NearScore(std::int64_t gold, std::int64_t given);
// Thinking, fences, bold and quotes removed; white space at the ends too.
std::string Tidy(std::string_view answer);
// The last number that stands alone, thousands separators dropped.
std::optional<double> LastNumber(std::string_view text);
// 2 * common / (wanted + given); both empty is 1.
double F1(std::size_t common, std::size_t wanted, std::size_t given);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_SCORERS_SCORERS_H_
