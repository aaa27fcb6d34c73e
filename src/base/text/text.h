// Small text helpers that every module needs.
//
//   GroupDigits(3800000)                        // "3,800,000"
//   NearestNames("codign", {"coding", "plan"})  // {"coding"}
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_TEXT_H_
#define DOSSIER_BASE_TEXT_TEXT_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier {

// A text with a name for people: a file, an address, a heading.
struct NamedText {
  std::string name, text;  // UTF-8
};

// Thousands separated by commas, whatever the locale.
std::string GroupDigits(std::uint64_t number);
// The same for a count that may be unknown or below 0, which is shown as 0.
std::string GroupCount(std::int64_t number);
// "1 run", "1,204 runs".
std::string Counted(std::uint64_t number, std::string_view noun);
// Returns true if `word` is one of `words`.
template <typename Words>
bool IsOneOf(std::string_view word, const Words& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}
// Returns true if `text` is one or more digits.
bool AllDigits(std::string_view text);
std::string_view TrimSpace(std::string_view text);  // ASCII white space at both ends
// The first line that is not blank, without white space at its ends; "" if all are blank.
std::string_view FirstLine(std::string_view text);
std::string ToLowerAscii(std::string_view text);
// Pieces between `separator`; "" gives one empty piece.
std::vector<std::string_view> Split(std::string_view text, char separator);
std::string Join(std::span<const std::string> parts, std::string_view separator);
std::string Base64(std::string_view bytes);  // RFC 4648, padded
// Decodes and appends base64 in either alphabet of RFC 4648, padded or not. kRefused: returns
// false, with some bytes appended, on another character or if the last group has only one digit.
enum class Strays : std::uint8_t { kRefused, kSkipped };
bool AppendBase64(std::string_view text, std::string* bytes, Strays strays = Strays::kRefused);
std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to);
// Quotes `text` as one word of a POSIX shell: src/a.cc stays as it is, a b becomes 'a b'.
std::string ShellQuote(std::string_view text);

// Returns up to `count` of `names`, nearest first by edit distance ignoring case; names that are
// too far (more than two fifths of the longer name's length) are left out.
std::vector<std::string> NearestNames(std::string_view name, std::span<const std::string> names,
                                      std::size_t count = 3);

// "10M" -> 10,485,760: K, M, G are powers of 1,024. Errors: kUsage with the text.
Result<std::uint64_t> ParseSize(std::string_view text);
// "300ms", "60s", "10m", "2h", "7d"; a bare number is seconds. Errors: kUsage with the text.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);
// 912 B, 3.7 MiB, 3.1 GiB.
std::string FormatSize(std::uint64_t bytes);

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_TEXT_H_
