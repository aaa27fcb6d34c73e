#include "ask/claims/dates.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <vector>

#include "ask/claims/shown_texts.h"
#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

// Folded. Source: Unicode CLDR, Gregorian months, wide and abbreviated.
constexpr std::array<std::string_view, 12> kMonths = {
    "january januar janvier enero gennaio janeiro januari jan",
    "february februar fevrier febrero febbraio fevereiro februari feb",
    "march marz mars marzo marco maart mar",
    "april avril abril aprile apr",
    "may mai mayo maggio maio mei",
    "june juni juin junio giugno junho jun",
    "july juli juillet julio luglio julho jul",
    "august aout agosto augustus aug",
    "september septembre septiembre settembre setembro sep sept",
    "october oktober octobre octubre ottobre outubro oct okt",
    "november novembre noviembre novembro nov",
    "december dezember decembre diciembre dicembre dezembro dec dez"};

constexpr std::string_view kWeekDays =
    "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag "
    "freitag samstag sonnabend sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes "
    "martes miercoles jueves viernes sabado domingo";

int MonthOf(std::string_view word) {
  const std::string folded = Folded(word);
  for (std::size_t month = 0; month < kMonths.size(); ++month) {
    for (const std::string_view name : Split(kMonths[month], ' ')) {
      if (name == folded) return static_cast<int>(month) + 1;
    }
  }
  return 0;
}

struct Day {
  int year = 0, month = 0, day = 0;
  bool operator==(const Day&) const = default;
};

bool IsDay(const Day& day) {
  return day.month >= 1 && day.month <= 12 && day.day >= 1 && day.day <= 31;
}

// A date as written, and the days that it may mean.
struct Date {
  std::string_view text;
  std::vector<Day> days;
};

// A number or a word, and the text between it and the previous one.
struct Piece {
  std::string_view gap, text;
  bool number() const { return IsDigit(text[0]); }
  int value() const {
    int value = 0;
    for (const char c : text.substr(0, 4)) value = value * 10 + (c - '0');
    return value;
  }
};

std::vector<Piece> PiecesOf(std::string_view text) {
  const auto kind = [](char c) {
    return IsDigit(c) ? 1 : IsLetter(c) || static_cast<unsigned char>(c) >= 0x80 ? 2 : 0;
  };
  std::vector<Piece> pieces;
  std::size_t behind = 0;
  for (std::size_t at = 0; at < text.size();) {
    const int is = kind(text[at]);
    std::size_t end = at + 1;
    while (end < text.size() && kind(text[end]) == is) ++end;
    if (is != 0) {
      pieces.push_back({text.substr(behind, at - behind), text.substr(at, end - at)});
      behind = end;
    }
    at = end;
  }
  return pieces;
}

std::string_view Span(const Piece& first, const Piece& last) {
  return {first.text.data(),
          static_cast<std::size_t>(last.text.data() + last.text.size() - first.text.data())};
}

// Reads "2024-05-03", "03.05.2024", "5/3/2024": with slashes either day or month may come first.
std::optional<Date> NumericDate(const Piece& a, const Piece& b, const Piece& c) {
  if (!a.number() || !b.number() || !c.number() || b.text.size() > 2) return std::nullopt;
  const std::string_view mark = TrimSpace(b.gap);
  if (mark.size() != 1 || TrimSpace(c.gap) != mark) return std::nullopt;
  if (std::string_view("-./").find(mark) == mark.npos) return std::nullopt;
  Date date{.text = Span(a, c)};
  if (a.text.size() == 4 && c.text.size() <= 2) {
    date.days = {{a.value(), b.value(), c.value()}};
  } else if (a.text.size() <= 2 && c.text.size() == 4) {
    date.days = {{c.value(), b.value(), a.value()}};
    if (mark == "/") date.days.push_back({c.value(), a.value(), b.value()});
  }
  std::erase_if(date.days, [](const Day& day) { return !IsDay(day); });
  return date.days.empty() ? std::nullopt : std::optional(std::move(date));
}

// Reads "3 November 1821", "3rd of November, 1821", "November 3, 1821"; `at` is the month's name.
std::optional<Date> NamedDate(const std::vector<Piece>& pieces, std::size_t at) {
  const int month = pieces[at].number() ? 0 : MonthOf(pieces[at].text);
  if (month == 0) return std::nullopt;
  const auto number = [&](std::size_t i, std::size_t least, std::size_t most) {
    return i < pieces.size() && pieces[i].number() && pieces[i].text.size() >= least &&
           pieces[i].text.size() <= most;
  };
  // One word may be between: "de", "of"; or two if the day is "3rd".
  std::size_t year = at + 1;
  if (!number(year, 1, 4)) ++year;
  for (std::size_t back = 1; back <= 3 && back <= at; ++back) {
    if (!number(at - back, 1, 2)) continue;
    if (!number(year, 4, 4)) break;
    return Date{Span(pieces[at - back], pieces[year]),
                {{pieces[year].value(), month, pieces[at - back].value()}}};
  }
  if (!number(at + 1, 1, 2)) return std::nullopt;
  const std::size_t last = number(at + 2, 4, 4) ? at + 2 : at + 3;
  if (!number(last, 4, 4)) return std::nullopt;
  return Date{Span(pieces[at], pieces[last]),
              {{pieces[last].value(), month, pieces[at + 1].value()}}};
}

std::vector<Date> DatesOf(std::string_view text) {
  std::vector<Date> dates;
  const std::vector<Piece> pieces = PiecesOf(text);
  for (std::size_t at = 0; at < pieces.size(); ++at) {
    auto date = NamedDate(pieces, at);
    if (!date && at + 2 < pieces.size()) {
      date = NumericDate(pieces[at], pieces[at + 1], pieces[at + 2]);
    }
    if (date) dates.push_back(std::move(*date));
  }
  return dates;
}

std::size_t BeginOf(std::string_view text, std::string_view part) {
  return static_cast<std::size_t>(part.data() - text.data());
}

std::vector<Day> DaysOf(std::span<const std::string> texts) {
  std::vector<Day> days;
  for (const std::string& text : texts) {
    for (const Date& date : DatesOf(text))
      days.insert(days.end(), date.days.begin(), date.days.end());
  }
  return days;
}

double SecondsOf(const Day& day) {
  const std::chrono::year_month_day date{std::chrono::year(day.year),
                                         std::chrono::month(static_cast<unsigned>(day.month)),
                                         std::chrono::day(static_cast<unsigned>(day.day))};
  return 86400.0 * std::chrono::sys_days(date).time_since_epoch().count();
}

// Returns the time of day whose hour begins at `at`; none if there is none.
std::optional<DayTime> ClockAt(std::string_view text, std::size_t at) {
  if (at > 0 && (IsDigit(text[at - 1]) || text[at - 1] == ':' || text[at - 1] == '.')) {
    const bool behind_date = text[at - 1] == ':' && at > 1 && IsDigit(text[at - 2]);
    if (!behind_date) return std::nullopt;
  }
  int first = 0, second = 0, read = 0;
  const std::string from(text.substr(at, 24));
  if (std::sscanf(from.c_str(), "%2d:%2d%n", &first, &second, &read) != 2 || second > 59 ||
      read < 4 || !IsDigit(from[static_cast<std::size_t>(read) - 2])) {
    return std::nullopt;
  }
  DayTime clock{.of_day = first * 3600.0 + second * 60.0, .brief = true};
  double third = 0;
  int more = 0;
  if (std::sscanf(from.c_str() + read, ":%lf%n", &third, &more) == 1 && third < 60 && third >= 0) {
    clock.of_day += third;
    clock.brief = false;
    read += more;
  }
  clock.place = {at, at + static_cast<std::size_t>(read)};
  clock.seconds = clock.of_day;
  return clock;
}

// Returns true if both have the same numbers in different places: swapped day and month, or also
// the last two digits of the year.
bool IsTurned(const Day& a, const Day& b) {
  std::array<int, 3> of_a = {a.year % 100, a.month, a.day}, of_b = {b.year % 100, b.month, b.day};
  std::ranges::sort(of_a);
  std::ranges::sort(of_b);
  return a.year / 100 == b.year / 100 && of_a == of_b && a != b;
}

// Returns true for "1 November 2024" if "1 October 2024" was shown and November nowhere.
bool HasOtherMonth(const Date& date, std::span<const Day> days, std::string_view question,
                   std::span<const std::string> shown) {
  const Day& day = date.days[0];
  const bool other = std::ranges::any_of(days, [&](const Day& seen) {
    return seen.year == day.year && seen.day == day.day && seen.month != day.month;
  });
  const auto names = [&](std::string_view text) {
    return std::ranges::any_of(PiecesOf(text), [&](const Piece& piece) {
      return !piece.number() && MonthOf(piece.text) == day.month;
    });
  };
  return other && names(date.text) && !names(question) && std::ranges::none_of(shown, names);
}

}  // namespace

std::vector<Place> DatePlaces(std::string_view text) {
  std::vector<Place> places;
  for (const Date& date : DatesOf(text)) {
    const std::size_t begin = BeginOf(text, date.text);
    places.push_back({begin, begin + date.text.size()});
  }
  return places;
}

std::vector<Place> ShownDates(std::string_view answer, std::span<const std::string> shown) {
  std::vector<Place> places;
  const std::vector<Date> dates = DatesOf(answer);
  if (dates.empty()) return places;
  const std::vector<Day> days = DaysOf(shown);
  for (const Date& date : dates) {
    const auto is_shown = [&](const Day& day) {
      return std::ranges::find(days, day) != days.end();
    };
    if (!std::ranges::any_of(date.days, is_shown)) continue;
    const std::size_t begin = BeginOf(answer, date.text);
    places.push_back({begin, begin + date.text.size()});
  }
  return places;
}

std::vector<DayTime> ClocksOf(std::string_view text) {
  constexpr std::size_t kGap = 5;  // bytes between a date and its time: " at "
  std::vector<DayTime> clocks;
  if (text.find(':') == text.npos) return clocks;
  const std::vector<Date> dates = DatesOf(text);
  auto date = dates.begin();
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at < done || !IsDigit(text[at])) continue;
    auto clock = ClockAt(text, at);
    if (!clock) continue;
    done = clock->place.end;
    const auto end = [&](const Date& d) { return BeginOf(text, d.text) + d.text.size(); };
    while (date != dates.end() && end(*date) + kGap < at) ++date;
    if (date != dates.end() && end(*date) <= at) {
      clock->dated = true;
      clock->seconds += SecondsOf(date->days[0]);
    }
    clocks.push_back(*clock);
  }
  return clocks;
}

bool IsCalendarName(std::string_view word) {
  if (MonthOf(word) != 0) return true;
  const auto days = Split(kWeekDays, ' ');
  return std::ranges::find(days, std::string_view(Folded(word))) != days.end();
}

std::string TurnedDate(std::string_view answer, std::string_view question,
                       std::span<const std::string> shown) {
  answer = CheckedPart(answer);
  const std::vector<Date> given = DatesOf(answer);
  if (given.empty()) return {};
  std::vector<Day> days = DaysOf(shown);
  for (const Date& date : DatesOf(question)) {
    days.insert(days.end(), date.days.begin(), date.days.end());
  }
  for (const Date& date : given) {
    const auto among = [&](const auto& is) {
      return std::ranges::any_of(date.days, [&](const Day& day) {
        return std::ranges::any_of(days, [&](const Day& other) { return is(day, other); });
      });
    };
    if (among(std::equal_to<>())) continue;
    if (among(IsTurned) || HasOtherMonth(date, days, question, shown))
      return std::string(date.text);
  }
  return {};
}

}  // namespace dossier::ask
