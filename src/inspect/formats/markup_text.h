// Text of XML and HTML, and attributes of their tags. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_FORMATS_MARKUP_TEXT_H_
#define DOSSIER_INSPECT_FORMATS_MARKUP_TEXT_H_

#include <string>
#include <string_view>

#include "inspect/json/text_records.h"

namespace dossier::inspect {

// The text between two tags: character references and CDATA resolved, comments left out.
std::string PlainMarkup(std::string_view text);
// The words of a piece of HTML, separated by single spaces, with line ends where blocks end.
std::string TextOfHtml(std::string_view html);
// Names (without prefix) and values of a whole tag, from < to >, without name space declarations.
TextRecord AttributesOf(std::string_view tag);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_MARKUP_TEXT_H_
