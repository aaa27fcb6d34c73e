// Counts, checks and cleans UTF-8, and cuts it at code points.
//
//   utf8::Census census = utf8::Count("naïve café");   // 12 bytes, 10 code points
//   std::string_view head = utf8::Prefix(text, 200);    // at most 200 code points, all whole
//
// Code points are Unicode scalar values; invalid bytes count as U+FFFD, one for each maximal
// invalid part (the WHATWG rule). Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_UTF8_H_
#define DOSSIER_BASE_TEXT_UTF8_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace dossier::utf8 {

struct Census {
  std::uint64_t bytes = 0;
  std::uint64_t ascii_bytes = 0;
  std::uint64_t code_points = 0;       // ascii_bytes + wide_code_points
  std::uint64_t wide_code_points = 0;  // code points of two and more bytes, and invalid parts
  std::uint64_t utf16_units = 0;
  std::uint64_t invalid = 0;  // maximal invalid parts
};

Census Count(std::string_view text);
std::uint64_t CodePoints(std::string_view text);
bool IsValid(std::string_view text);
// Returns where the first invalid part begins; the end if the text is valid.
std::size_t FirstInvalid(std::string_view text);
// Returns `text` with each invalid part replaced by U+FFFD.
std::string Sanitize(std::string_view text);

// The longest start / end of `text` with at most `code_points` code points.
std::string_view Prefix(std::string_view text, std::uint64_t code_points);
std::string_view Suffix(std::string_view text, std::uint64_t code_points);
// Returns the largest offset <= `offset` that is not inside a code point.
std::size_t FloorBoundary(std::string_view text, std::size_t offset);

// Reads the code point at `*offset` and moves `*offset` past it; U+FFFD for an invalid part.
char32_t Next(std::string_view text, std::size_t* offset);
void Append(char32_t code_point, std::string* out);

// Makes `text` safe to show on a terminal: C0 and C1 controls except LF and TAB become ^X or
// \u{HEX}, invalid UTF-8 becomes U+FFFD.
std::string CleanForTerminal(std::string_view text);

}  // namespace dossier::utf8

#endif  // DOSSIER_BASE_TEXT_UTF8_H_
