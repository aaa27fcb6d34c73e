// Escapes foreign text for a page: as the content of an element or a quoted attribute, or as JSON
// in a script; and hashes a script or style for the page's security policy.
//
//   out += "<td>" + EscapeHtml(cell) + "</td>";
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_HTML_H_
#define DOSSIER_BASE_TEXT_HTML_H_

#include <string>
#include <string_view>

namespace dossier {

// Writes `&`, `<`, `>` and quotes as entities; control characters except line ends and tabs, and
// invalid UTF-8, as U+FFFD.
std::string EscapeHtml(std::string_view text);
// Makes JSON safe inside a script element: `<`, `>` and `&` as \u escapes.
std::string EscapeForScript(std::string_view json);

// Returns the source of a content security policy for exactly this script or style: 'sha256-…'.
std::string HashSource(std::string_view text);

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_HTML_H_
