// Makes text from a file safe for one line of a hint: it cannot forge another line, reorder what is
// shown, or leak a known secret.
//
//   CleanText("a\nb\u202E")                 // a\nb\u{202E} with a backslash each
//   CutText("…long…", 200)                  // at most 200 code points, cut at a good place
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_DESCRIPTION_CLEAN_H_
#define DOSSIER_INSPECT_DESCRIPTION_CLEAN_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace dossier::inspect {

// Writes LF, TAB, CR as \n, \t, \r; other controls, zero-width and bidi controls as \u{HEX}.
std::string CleanText(std::string_view utf8);

// As CleanText, and also escapes quotes and backslashes; the middle is cut out above 120 chars.
std::string CleanName(std::string_view utf8);

struct CutResult {
  std::string text;
  bool cut = false;
};
// Cuts a cleaned text to at most `chars` code points, then back by up to 20 to just after a comma,
// a closing bracket or a space; never inside a code point, a grapheme cluster or an escape.
CutResult CutText(std::string_view cleaned, std::uint64_t chars);

// Returns a value of the field `name`, redacted, cleaned and at most 40 chars; if it was cut, the
// last is "…".
std::string CleanExample(std::string_view name, std::string_view utf8);

// Returns the name of a field as it is listed.
std::string ShowFieldName(std::string_view utf8);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_CLEAN_H_
