// Recognises time stamps in logs.
//
//   TimestampLength("2024-11-02T15:30:00Z INFO started")  // 20
//
// Only the form is checked, not whether the day exists. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_FORMATS_LOG_TIME_H_
#define DOSSIER_INSPECT_FORMATS_LOG_TIME_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/formats/log_shape.h"

namespace dossier::inspect {

// Steps that the parsers of log lines share: each removes something from the front of a line.
//
//   std::string_view rest = "[81] started";
//   TakeChar('[', &rest) && TakeUntil("]", &rest) == "81";
//
// Thread-safety: pure functions.

inline void Put(LogFields* fields, std::string_view name, std::string_view value) {
  if (fields) fields->emplace_back(name, value);
}

// As Put, but skips values that mean "none".
inline void PutUnlessNil(LogFields* fields, std::string_view name, std::string_view value) {
  if (value != "-" && !value.empty()) Put(fields, name, value);
}

inline std::string_view SkipSpaces(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

// Removes and returns the bytes of *rest before the first of `stops`; may be empty.
inline std::string_view TakeUntil(std::string_view stops, std::string_view* rest) {
  const std::string_view taken = rest->substr(0, rest->find_first_of(stops));
  rest->remove_prefix(taken.size());
  return taken;
}

inline bool TakeChar(char wanted, std::string_view* rest) {
  if (rest->empty() || rest->front() != wanted) return false;
  rest->remove_prefix(1);
  return true;
}

inline bool IsAllUpper(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return IsUpper(c); });
}

// Returns the length in bytes of the time stamp that `text` starts with, or 0: ISO 8601 and its
// variants (2024/11/02 15:30:00,123), 02.11.2024 15:30:00, 24/11/02 15:30:00, 15:30:00.123, Sat Nov
// 02 15:30:00 2024, Nov  2 15:30:00; a zone may follow.
std::size_t TimestampLength(std::string_view text);

// The same, except that 15:30:00.123 without a date does not count.
std::size_t DatedTimeLength(std::string_view text);
// Accepts only 15:30:00.123; the fraction may be missing.
std::size_t ClockLength(std::string_view text);
// Accepts only the form of RFC 3164: Nov  2 15:30:00.
std::size_t SyslogTimeLength(std::string_view text);
// Accepts ISO 8601 with a T, as RFC 5424 requires.
std::size_t IsoTimeLength(std::string_view text);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_LOG_TIME_H_
