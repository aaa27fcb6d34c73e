// Checks dates and times in an answer: finds a date whose parts (day and month, or day and year)
// are swapped compared with a shown date, or whose month name differs.
//
//   TurnedDate("1821-03-11", question, {"born 1821-11-03"});   // "1821-03-11"
//   TurnedDate("3 November 1821", question, {"born 1821-11-03"});   // ""
//
// Thread-safety: pure functions. Linear in the length of what was shown.

#ifndef DOSSIER_ASK_CLAIMS_DATES_H_
#define DOSSIER_ASK_CLAIMS_DATES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::ask {

// Returns the first date of `answer` that has the numbers of a date in `shown` in a different
// order, if no date there or in `question` can be read as the same day; or that has a shown day and
// year with a month name that was not shown. Empty if there is none.
std::string TurnedDate(std::string_view answer, std::string_view question,
                       std::span<const std::string> shown);

// A byte range in a text.
struct Place {
  std::size_t begin = 0, end = 0;
  bool Holds(std::size_t at) const { return begin <= at && at < end; }
};

// Returns the places of the dates in `text`.
std::vector<Place> DatePlaces(std::string_view text);
// Returns the dates of `answer` that are the same day as one in `shown`, in any notation.
std::vector<Place> ShownDates(std::string_view answer, std::span<const std::string> shown);

// A time of day, such as "9:05" or "09:05:30.25", also as seconds from its date or, if no date
// precedes it, from midnight. A time with two parts may also be minutes and seconds.
struct DayTime {
  Place place;
  double seconds = 0, of_day = 0;
  bool dated = false, brief = false;  // brief: has two parts
};
std::vector<DayTime> ClocksOf(std::string_view text);

// Returns true if `word` is the name of a month or weekday in one of several languages: an answer
// may have derived it from a date.
bool IsCalendarName(std::string_view word);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_CLAIMS_DATES_H_
