// Dates of an answer that were turned: day and month, or day and year, of a date that was shown.
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

namespace dossier::ask {

// The first date of `answer` that has the numbers of a date of `shown` in other places, while no
// date there and none of `question` may be read as the same day; empty if there is none.
std::string TurnedDate(std::string_view answer, std::string_view question,
                       std::span<const std::string> shown);

// Whether `word` is the name of a month or a day of the week, in one of several languages: an
// answer may have worked it out from a date.
bool IsCalendarName(std::string_view word);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_CLAIMS_DATES_H_
