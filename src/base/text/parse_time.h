// Dates and times that people and programs write, by RFC 3339.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Clock::Wall now, ParseTime("2026-11-21T23:36:43Z"));
//
// Thread-safety: pure function.

#ifndef DOSSIER_BASE_TEXT_PARSE_TIME_H_
#define DOSSIER_BASE_TEXT_PARSE_TIME_H_

#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace dossier {

// "2026-11-21T23:36:43Z", with a fraction (kept to microseconds), with "+02:00" for the Z, or with
// a blank for the T. Years 1680 to 2260. Errors: kInvalidArgument with the text.
Result<Clock::Wall> ParseTime(std::string_view text);

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_PARSE_TIME_H_
