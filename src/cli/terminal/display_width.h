// How many columns of a terminal a text takes.
//
//   DisplayWidth("naïve")   // 5
//   DisplayWidth("東京")     // 4: wide characters take two columns
//
// By the East Asian Width tables of utf8proc (Unicode 15); combining marks take none. Terminals
// differ on emoji joined by U+200D, which count here as their first one. Thread-safety: pure
// functions.

#ifndef DOSSIER_CLI_TERMINAL_DISPLAY_WIDTH_H_
#define DOSSIER_CLI_TERMINAL_DISPLAY_WIDTH_H_

#include <string_view>

namespace dossier::cli {

int DisplayWidth(std::string_view text);

// As DisplayWidth, of a text that holds our own colour sequences (ESC [ … m), which take no
// columns.
int StyledWidth(std::string_view text);

// The longest start of `text` that takes at most `columns`; never half a code point, never a base
// without its combining marks.
std::string_view DisplayPrefix(std::string_view text, int columns);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_DISPLAY_WIDTH_H_
