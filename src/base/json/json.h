// JSON values for building and for small inputs (replies, frames, journal events). Data files are
// read with simdjson in `inspect`, never with this.
//
//   DOSSIER_ASSIGN_OR_RETURN(Json value, ParseJson(R"({"a":[1,2]})"));
//   std::string text = ToJson(value);                 // {"a":[1,2]}
//   const Json* list = Find(value, "a");              // nullptr if absent
//
// Thread-safety: values are plain data; functions are pure.

#ifndef DOSSIER_BASE_JSON_JSON_H_
#define DOSSIER_BASE_JSON_JSON_H_

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier {

using Json = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;

// Parses exactly one value; depth at most `max_depth`.
// Errors: kInvalidArgument with the byte offset.
Result<Json> ParseJson(std::string_view text, std::size_t max_depth = 64);

// Compact, keys in the order of insertion, UTF-8, no trailing newline; numbers like 0 and 0.05.
std::string ToJson(const Json& value);
// Indented by two spaces, for people.
std::string ToPrettyJson(const Json& value);

// Lookups that never throw. A value that is null, absent or of another type counts as absent.
const Json* Find(const Json& value, std::string_view key);
const Json* Find(const JsonObject& object, std::string_view key);
std::optional<std::string_view> FindString(const Json& value, std::string_view key);
// As FindString, with "" if absent.
std::string TextAt(const Json& value, std::string_view key);
// The strings of a list, in order; other elements are skipped. Empty if `list` is no list.
std::vector<std::string> StringsOf(const Json* list);
std::optional<std::int64_t> FindInt(const Json& value, std::string_view key);
std::optional<double> FindNumber(const Json& value, std::string_view key);
std::optional<bool> FindBool(const Json& value, std::string_view key);

// Parts that many objects are made of.
template <typename Value>
Json OrNull(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}
JsonArray TextArray(std::span<const std::string> texts);
JsonObject CountsJson(const std::map<std::string, std::int64_t>& counts);

}  // namespace dossier

#endif  // DOSSIER_BASE_JSON_JSON_H_
