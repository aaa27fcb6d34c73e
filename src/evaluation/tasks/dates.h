// Days as whole numbers, and the forms in which questions and answers write them.
//
//   const std::int32_t day = DayOf(2024, 6, 6);     // days since 1970-01-01
//   LineDate(day);                                  // "Jun 06, 2024"
//   ParseDate("6 June 2024");                       // the same day
//
// Thread-safety: pure functions.

#ifndef DOSSIER_EVALUATION_TASKS_DATES_H_
#define DOSSIER_EVALUATION_TASKS_DATES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dossier::evaluation {

struct Civil {
  int year = 1970, month = 1, day = 1;  // month and day from 1
};

std::int32_t DayOf(int year, int month, int day);
Civil CivilOf(std::int32_t day);

std::string_view MonthName(int month);     // "June"
std::string LineDate(std::int32_t day);    // "Jun 06, 2024"
std::string IsoDate(std::int32_t day);     // "2024-06-06"
std::string AnswerDate(std::int32_t day);  // "06/06/2024": month first

// Parses `text` as one day: MM/DD/YYYY (the day comes first only if the first number is above 12),
// YYYY-MM-DD, "Jun 6, 2024", "6 June 2024". Returns nullopt if a part is missing.
std::optional<std::int32_t> ParseDate(std::string_view text);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_TASKS_DATES_H_
