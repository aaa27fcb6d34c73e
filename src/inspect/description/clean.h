// Text from a file, made fit to stand on one line of a hint: nothing in it can forge another line,
// reorder what is shown, or leak a known secret.
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

// LF, TAB, CR as \n, \t, \r; other controls, zero-width and bidi controls as \u{HEX}.
std::string CleanText(std::string_view utf8);

// As CleanText, and quotes and backslashes are escaped; over 120 chars the middle is cut out.
std::string CleanName(std::string_view utf8);

struct CutResult {
  std::string text;
  bool cut = false;
};
// At most `chars` code points of a cleaned text, then back by at most 20 to just after a comma, a
// closing bracket or a space; never inside a code point, a grapheme cluster or an escape.
CutResult CutText(std::string_view cleaned, std::uint64_t chars);

// A value of the field `name`, redacted, cleaned and at most 40 chars, the last of them "…" if it
// was cut.
std::string CleanExample(std::string_view name, std::string_view utf8);

// A name of a field as it is listed.
std::string ShowFieldName(std::string_view utf8);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_CLEAN_H_
