// Steps that the parsers of log lines share: each takes something off the front of a line.
//
//   std::string_view rest = "[81] started";
//   TakeChar('[', &rest) && TakeUntil("]", &rest) == "81";
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_FORMATS_LOG_TEXT_H_
#define DOSSIER_INSPECT_FORMATS_LOG_TEXT_H_

#include <algorithm>
#include <string_view>

#include "inspect/formats/log_shape.h"

namespace dossier::inspect {

inline void Put(LogFields* fields, std::string_view name, std::string_view value) {
  if (fields) fields->emplace_back(name, value);
}

// As Put, without values that stand for "none".
inline void PutUnlessNil(LogFields* fields, std::string_view name, std::string_view value) {
  if (value != "-" && !value.empty()) Put(fields, name, value);
}

inline std::string_view SkipSpaces(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

// Takes the bytes in front of the first of `stops` off *rest. Empty if there are none.
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

inline bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

inline bool IsUpper(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_LOG_TEXT_H_
