// Strings as templates write them.
//
//   UnescapeString(R"(a\tb\x41)")   // "a<TAB>bA"
//
// Thread-safety: a pure function.

#ifndef DOSSIER_SOURCES_TEMPLATE_TEMPLATE_STRING_H_
#define DOSSIER_SOURCES_TEMPLATE_TEMPLATE_STRING_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::sources {

// What stands between the quotes, with Python's escapes replaced; an unknown escape stays as it is.
// Errors: kConfig (digits missing, no such code point, \N{…}).
Result<std::string> UnescapeString(std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_TEMPLATE_TEMPLATE_STRING_H_
