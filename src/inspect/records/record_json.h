// Finds and checks JSON values inside a text without building anything (RFC 8259, at most 1,024
// levels; NaN, Infinity and -Infinity are numbers, as in Python). These functions define what
// inspect calls a valid value.
//
//   std::size_t at = SkipJsonSpace(text, 0);
//   const std::size_t start = at;
//   if (SkipJsonValue(text, &at)) Use(text.substr(start, at - start));
//
// The text is UTF-8; bytes above 0x7F inside strings are not checked. Thread-safety: pure
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

// Returns the first offset from `at` on that is not JSON white space.
std::size_t SkipJsonSpace(std::string_view text, std::size_t at);
std::string_view TrimJsonSpace(std::string_view text);

// Moves *at from the first byte of a value to the byte after it. Returns false, with *at at the
// fault, if there is no valid and complete value.
bool SkipJsonValue(std::string_view text, std::size_t* at);
// The same for a string including its quotes.
bool SkipJsonString(std::string_view text, std::size_t* at);

// Iterates over the members of an object or the elements of an array.
//
//   JsonParts parts(R"({"a":1,"b":[2]})");
//   while (parts.Next()) Use(parts.name(), parts.value());   // "a" and 1, then "b" and [2]
//
// Stops at the end or at the first invalid part; immediately if `text` is neither.
class JsonParts {
 public:
  explicit JsonParts(std::string_view text);
  bool Next();
  std::string_view name() const { return name_; }  // including quotes; empty in an array
  std::string_view value() const { return value_; }

 private:
  const std::string_view text_;
  char close_ = 0;
  std::size_t at_ = 0;
  std::string_view name_, value_;
};

// Returns true if `text` is exactly one value, with or without surrounding white space.
bool IsJsonValue(std::string_view text);

// Returns the offset after the bracket `open`, `[` or `{`, of the array or object at `path` in the
// object that `text` starts with; npos if `text` is not an object or has no such value.
std::size_t FindJsonContainer(std::string_view text, std::span<const std::string> path, char open);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_RECORDS_RECORD_JSON_H_
