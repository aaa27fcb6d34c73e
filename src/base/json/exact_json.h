// Parses foreign JSON without losing digits of numbers: whole numbers of more than 64 bits, more
// digits than a double has, 1e999. A plain Json would silently change them.
//
//   DOSSIER_ASSIGN_OR_RETURN(ExactJson value, ExactJson::Parse(R"({"a": 18446744073709551617})"));
//   value.nearest();     // {"a":1.8446744073709552e+19}: to check types and bounds
//   value.with_texts();  // {"a":"18446744073709551617"}: nothing is lost
//   ToJson(value);       // {"a":18446744073709551617}
//
// Thread-safety: plain data; functions are pure.

#ifndef DOSSIER_BASE_JSON_EXACT_JSON_H_
#define DOSSIER_BASE_JSON_EXACT_JSON_H_

#include <string>
#include <string_view>
#include <utility>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier {

class ExactJson {
 public:
  ExactJson() = default;
  // All numbers of `value` are exact.
  ExactJson(Json value) : nearest_(value), with_texts_(std::move(value)) {}  // NOLINT: implicit

  // As ParseJson.
  static Result<ExactJson> Parse(std::string_view text, std::size_t max_depth = 64);

  // Has each number as the nearest value that a Json can hold; infinite if it is too large.
  const Json& nearest() const { return nearest_; }
  // Has each number that a Json cannot hold exactly as a text of its digits.
  const Json& with_texts() const { return with_texts_; }
  // True if there is such a number.
  bool has_texts() const { return has_texts_; }

 private:
  Json nearest_, with_texts_;  // of the same shape
  bool has_texts_ = false;
};

// As ToJson of a Json; inexact numbers are written with their original digits.
std::string ToJson(const ExactJson& value);

}  // namespace dossier

#endif  // DOSSIER_BASE_JSON_EXACT_JSON_H_
