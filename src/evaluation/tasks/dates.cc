#include "evaluation/tasks/dates.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::evaluation {
namespace {

constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};

constexpr bool IsLeap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

constexpr int DaysIn(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[month - 1];
}

// Returns the days before the first of January of `year`, from year 1.
constexpr std::int32_t DaysBefore(int year) {
  const int past = year - 1;
  return past * 365 + past / 4 - past / 100 + past / 400;
}

// 1 to 12 for a month's name or its first three letters, with or without a full stop; else 0.
int MonthOf(std::string_view word) {
  if (word.ends_with('.')) word.remove_suffix(1);
  const std::string lower = ToLowerAscii(word);
  for (int i = 0; i < 12; ++i) {
    const std::string name = ToLowerAscii(kMonths[i]);
    if (lower == name || lower == name.substr(0, 3) || (i == 8 && lower == "sept")) return i + 1;
  }
  return 0;
}

std::optional<int> Part(std::string_view text, std::size_t least, std::size_t most) {
  if (text.size() < least || text.size() > most || !IsDigit(text[0])) return std::nullopt;
  return ExactNumber<int>(text);
}

std::optional<std::int32_t> Checked(std::optional<int> year, std::optional<int> month,
                                    std::optional<int> day) {
  if (!year || !month || !day || *year < 1 || *month < 1 || *month > 12) return std::nullopt;
  if (*day < 1 || *day > DaysIn(*year, *month)) return std::nullopt;
  return DayOf(*year, *month, *day);
}

}  // namespace

std::int32_t DayOf(int year, int month, int day) {
  std::int32_t days = DaysBefore(year) - DaysBefore(1970) + day - 1;
  for (int i = 1; i < month; ++i) days += DaysIn(year, i);
  return days;
}

Civil CivilOf(std::int32_t day) {
  Civil civil{.year = 1970 + day / 366};
  while (DayOf(civil.year + 1, 1, 1) <= day) ++civil.year;
  while (DayOf(civil.year, 1, 1) > day) --civil.year;
  std::int32_t rest = day - DayOf(civil.year, 1, 1);
  while (rest >= DaysIn(civil.year, civil.month)) rest -= DaysIn(civil.year, civil.month++);
  civil.day = rest + 1;
  return civil;
}

std::string_view MonthName(int month) { return kMonths[month - 1]; }

std::string LineDate(std::int32_t day) {
  const Civil civil = CivilOf(day);
  return fmt::format("{} {:02}, {}", MonthName(civil.month).substr(0, 3), civil.day, civil.year);
}

std::string IsoDate(std::int32_t day) {
  const Civil civil = CivilOf(day);
  return fmt::format("{:04}-{:02}-{:02}", civil.year, civil.month, civil.day);
}

std::string AnswerDate(std::int32_t day) {
  const Civil civil = CivilOf(day);
  return fmt::format("{:02}/{:02}/{:04}", civil.month, civil.day, civil.year);
}

std::optional<std::int32_t> ParseDate(std::string_view text) {
  text = TrimSpace(text);
  if (const auto parts = Split(text, '/'); parts.size() == 3) {
    auto month = Part(parts[0], 1, 2), day = Part(parts[1], 1, 2);
    if (month && *month > 12) std::swap(month, day);
    return Checked(Part(parts[2], 4, 4), month, day);
  }
  if (const auto parts = Split(text, '-'); parts.size() == 3) {
    return Checked(Part(parts[0], 4, 4), Part(parts[1], 2, 2), Part(parts[2], 2, 2));
  }
  std::vector<std::string_view> words;
  for (std::string_view word : Split(text, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  if (words.size() != 3) return std::nullopt;
  const bool month_first = !IsDigit(words[0][0]);
  std::string_view day = words[month_first ? 1 : 0];
  if (day.ends_with(',')) day.remove_suffix(1);
  std::string_view month = words[month_first ? 0 : 1];
  if (month.ends_with(',')) month.remove_suffix(1);
  const int number = MonthOf(month);
  if (number == 0) return std::nullopt;
  return Checked(Part(words[2], 4, 4), number, Part(day, 1, 2));
}

}  // namespace dossier::evaluation
