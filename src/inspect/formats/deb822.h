// deb822: stanzas of `Name: value` lines between blank lines, as in dpkg's status.
//
//   Package: adduser
//   Description: add and remove users and groups
//    This package includes the 'adduser' and 'deluser' commands
//
//   std::size_t at = 0;
//   for (ByteRange range; NextStanza(text, &at, &range);) Use(ParseStanza(Slice(text, range)));
//
// A stanza is a record; `#` lines are comments; a continuation line starts with a space or a tab
// and belongs to the field above it. Other programs separate stanzas differently: see StanzaStyle.
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_FORMATS_DEB822_H_
#define DOSSIER_INSPECT_FORMATS_DEB822_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspect/description/record_range.h"

namespace dossier::inspect {

enum class StanzaStyle : std::uint8_t {
  kDeb822,
  kLoose,   // as deb822, but names may have several words and letters of any script
  kRuled,   // separated by lines of `---`, `===` and the like, not by blank lines
  kTitled,  // each begins with a line like `=== title ===`; the field `_title` holds it
};
// Returns the flavour of a description: "", "loose", "ruled", "titled".
std::string_view StanzaStyleName(StanzaStyle style);
StanzaStyle StanzaStyleNamed(std::string_view name);  // kDeb822 for others

// The field with the title of a stanza.
inline constexpr std::string_view kStanzaTitle = "_title";

enum class StanzaLine : std::uint8_t { kBlank, kComment, kField, kContinuation, kTitle, kOther };

// Classifies a line; kContinuation only means that it starts with white space.
StanzaLine ClassifyStanzaLine(std::string_view line, StanzaStyle style = StanzaStyle::kDeb822);

// Finds the next stanza with at least one field at or after *position; its range goes from the
// first field or title to the end of the last line, without the line end. Returns false at the end
// of the text.
bool NextStanza(std::string_view text, std::size_t* position, ByteRange* stanza,
                StanzaStyle style = StanzaStyle::kDeb822);

// Returns names and values in order. A value is trimmed; its continuation lines follow after LF,
// without their leading white space character. A repeated name has the last value at the first
// place.
std::vector<std::pair<std::string, std::string>> ParseStanza(
    std::string_view stanza, StanzaStyle style = StanzaStyle::kDeb822);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_DEB822_H_
