// The scoring rules, one function each; score.h is the entry point.
//
//   const ScoreReading reading = ScoreOolong(task, "Label: ham");   // {1.0, "ham", "equal"}
//
// A rule reads the answer exactly as its published code does, including its quirks, so that scores
// can be compared with published ones. `lenient` is a second reading and never replaces the first.
// Thread-safety: pure functions.

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
// Own rules, for lists, lines and users' questions.
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

// Helpers that the rules share.
std::vector<std::string> GoldOf(const Task& task);
std::string FirstGold(const Task& task);
// As Python's str.strip(): removes Unicode white space at both ends.
std::string_view PythonStrip(std::string_view text);
// As Python's int() of a text: sign, digits of any script, single underscores between them.
std::optional<std::int64_t> PythonInt(std::string_view text);
// Returns 0.75 to the power of the distance.
double NearScore(std::int64_t gold, std::int64_t given);
// Removes thinking, fences, bold and quotes, and white space at the ends.
std::string Tidy(std::string_view answer);
// Returns the last number that is a word of its own, without thousands separators.
std::optional<double> LastNumber(std::string_view text);
// Returns 2 * common / (wanted + given); 1 if both are empty.
double F1(std::size_t common, std::size_t wanted, std::size_t given);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_SCORERS_SCORERS_H_
