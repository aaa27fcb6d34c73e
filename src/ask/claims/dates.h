// Dates and times of day: those of an answer that were turned, day and month, or day and year, of a
// date that was shown, or that have another month's name.
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

// The first date of `answer` that has the numbers of a date of `shown` in other places, while no
// date there and none of `question` may be read as the same day; or its day and year beside the
// name of a month that stands nowhere. Empty if there is none.
std::string TurnedDate(std::string_view answer, std::string_view question,
                       std::span<const std::string> shown);

// Where in a text something stands.
struct Place {
  std::size_t begin = 0, end = 0;
  bool Holds(std::size_t at) const { return begin <= at && at < end; }
};

// The dates of `text`.
std::vector<Place> DatePlaces(std::string_view text);
// The dates of `answer` that are a day of one of `shown`, however each of them writes it.
std::vector<Place> ShownDates(std::string_view answer, std::span<const std::string> shown);

// A time of day: "9:05", "09:05:30.25", and as seconds from its date or, if none stands before it,
// from midnight. What has two parts may also be minutes and seconds.
struct DayTime {
  Place place;
  double seconds = 0, of_day = 0;
  bool dated = false, brief = false;  // of two parts
};
std::vector<DayTime> ClocksOf(std::string_view text);

// Whether `word` is the name of a month or a day of the week, in one of several languages: an
// answer may have worked it out from a date.
bool IsCalendarName(std::string_view word);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_CLAIMS_DATES_H_
