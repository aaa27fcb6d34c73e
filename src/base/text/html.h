// Texts of others inside a page: as the content of an element or a quoted attribute, as JSON in a
// script, and the hash by which a page's policy allows the one script and style that it has.
//
//   out += "<td>" + EscapeHtml(cell) + "</td>";
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_HTML_H_
#define DOSSIER_BASE_TEXT_HTML_H_

#include <string>
#include <string_view>

namespace dossier {

// `&`, `<`, `>` and quotes as entities; control characters but line ends and tabs, and what is no
// UTF-8, as U+FFFD.
std::string EscapeHtml(std::string_view text);
// JSON that may stand in a script element: `<`, `>` and `&` as \u escapes.
std::string EscapeForScript(std::string_view json);

// What a content security policy calls a script or style of exactly this text: 'sha256-…'.
std::string HashSource(std::string_view text);

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_HTML_H_
