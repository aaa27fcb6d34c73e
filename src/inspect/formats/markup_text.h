// The words of XML and HTML, and the attributes of their tags. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_FORMATS_MARKUP_TEXT_H_
#define DOSSIER_INSPECT_FORMATS_MARKUP_TEXT_H_

#include <string>
#include <string_view>

#include "inspect/json/text_records.h"

namespace dossier::inspect {

// What stands between two tags: references to characters and CDATA put in, comments left out.
std::string PlainMarkup(std::string_view text);
// The words of a piece of HTML, with one space between them and line ends where blocks end.
std::string TextOfHtml(std::string_view html);
// Names without a prefix and values of a whole tag, from < to >; those of name spaces are left out.
TextRecord AttributesOf(std::string_view tag);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_MARKUP_TEXT_H_
