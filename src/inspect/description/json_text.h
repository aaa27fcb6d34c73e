// JSON text as it stands in a file, made readable.
//
//   UnescapeJson("caf\\u00e9")          // "café"
//   CompactJson("{ \"a\" : 1 }")        // {"a":1}
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_DESCRIPTION_JSON_TEXT_H_
#define DOSSIER_INSPECT_DESCRIPTION_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace dossier::inspect {

// The string that the text between two quotes stands for; lone surrogates become U+FFFD. An escape
// that is cut off is left out.
std::string UnescapeJson(std::string_view raw);

// `text` without white space between tokens; inside strings nothing changes. `text` may be cut off
// anywhere.
std::string CompactJson(std::string_view text);

// `text` as a JSON string, quotes included. Only what JSON demands is escaped.
std::string QuoteJson(std::string_view text);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_JSON_TEXT_H_
