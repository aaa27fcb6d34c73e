// Makes JSON text from a file readable.
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

// Decodes the text between two quotes; lone surrogates become U+FFFD. A truncated escape is
// dropped.
std::string UnescapeJson(std::string_view raw);

// Returns `text` without white space between tokens; strings are unchanged. `text` may be
// truncated.
std::string CompactJson(std::string_view text);

// Returns `text` as a JSON string including quotes. Escapes only what JSON requires.
std::string QuoteJson(std::string_view text);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_JSON_TEXT_H_
