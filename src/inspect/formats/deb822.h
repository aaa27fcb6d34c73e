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
// and belongs to the field above it. Other programs part stanzas otherwise: see StanzaStyle.
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
  kLoose,   // as deb822, but names may have several words, and letters of any script
  kRuled,   // parted by lines of `---`, `===` and the like; blank lines say nothing
  kTitled,  // each begins with a line such as `=== title ===`; the field `_title` holds the title
};
// "", "loose", "ruled", "titled": the flavour of a description.
std::string_view StanzaStyleName(StanzaStyle style);
StanzaStyle StanzaStyleNamed(std::string_view name);  // kDeb822 for others

// The field of a stanza that has a title.
inline constexpr std::string_view kStanzaTitle = "_title";

enum class StanzaLine : std::uint8_t { kBlank, kComment, kField, kContinuation, kTitle, kOther };

// What kind of line it is; kContinuation says only that it starts with white space.
StanzaLine ClassifyStanzaLine(std::string_view line, StanzaStyle style = StanzaStyle::kDeb822);

// Finds the next stanza with at least one field at or behind *position; its range goes from the
// first field or title to the end of the last line, line end excluded. False at the end of the
// text.
bool NextStanza(std::string_view text, std::size_t* position, ByteRange* stanza,
                StanzaStyle style = StanzaStyle::kDeb822);

// Names and values in order. A value is trimmed; its continuation lines follow after LF, without
// the white space character that marks them. Of a repeated name the last value stays, in the place
// of the first.
std::vector<std::pair<std::string, std::string>> ParseStanza(
    std::string_view stanza, StanzaStyle style = StanzaStyle::kDeb822);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_DEB822_H_
