// JSON values inside a text, found and checked without building anything (RFC 8259, at most 1,024
// levels; NaN, Infinity and -Infinity are numbers, as in Python). What inspect calls a valid value
// is what these accept.
//
//   std::size_t at = SkipJsonSpace(text, 0);
//   const std::size_t start = at;
//   if (SkipJsonValue(text, &at)) Use(text.substr(start, at - start));
//
// The text is UTF-8; bytes above 0x7F inside strings are not looked at. Thread-safety: pure
// functions, no recursion.

#ifndef DOSSIER_INSPECT_RECORDS_RECORD_JSON_H_
#define DOSSIER_INSPECT_RECORDS_RECORD_JSON_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dossier::inspect {

inline constexpr std::size_t kMaxJsonDepth = 1024;

// The first offset from `at` on that is no JSON white space.
std::size_t SkipJsonSpace(std::string_view text, std::size_t at);
std::string_view TrimJsonSpace(std::string_view text);

// Moves *at from the first byte of a value to the byte behind it. False, with *at where the fault
// lies, if there is no valid and complete value.
bool SkipJsonValue(std::string_view text, std::size_t* at);
// The same for a string with its quotes.
bool SkipJsonString(std::string_view text, std::size_t* at);

// Walks the members of an object or the elements of an array.
//
//   JsonParts parts(R"({"a":1,"b":[2]})");
//   while (parts.Next()) Use(parts.name(), parts.value());   // "a" and 1, then "b" and [2]
//
// Ends at the end, at what is no valid part, and at once where `text` is neither.
class JsonParts {
 public:
  explicit JsonParts(std::string_view text);
  bool Next();
  std::string_view name() const { return name_; }  // with its quotes; empty in an array
  std::string_view value() const { return value_; }

 private:
  const std::string_view text_;
  char close_ = 0;
  std::size_t at_ = 0;
  std::string_view name_, value_;
};

// Whether `text` is exactly one value, with or without white space around it.
bool IsJsonValue(std::string_view text);

// Offset behind the bracket `open`, `[` or `{`, of the array or object to which the names `path`
// lead from the object that `text` starts with; npos if `text` is no object or has no such value.
std::size_t FindJsonContainer(std::string_view text, std::span<const std::string> path, char open);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_RECORDS_RECORD_JSON_H_
