// Sections of Markdown as records, of a text whose tables are none.
//
//   for (const ByteRange& range : FindSections(text)) Use(ReadSection(Slice(text, range)));
//
// A section begins with a heading (`## Title`) outside of fenced code and ends where the next one
// begins, of whatever level. What stands in front of the first belongs to none. Linear in the text.
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_FORMATS_MARKDOWN_SECTIONS_H_
#define DOSSIER_INSPECT_FORMATS_MARKDOWN_SECTIONS_H_

#include <string_view>
#include <vector>

#include "inspect/description/record_range.h"
#include "inspect/json/text_records.h"

namespace dossier::inspect {

// The flavour of Markdown whose records are its sections.
inline constexpr std::string_view kSections = "sections";

std::vector<ByteRange> FindSections(std::string_view text);
// level (1 to 6), title, text (what is below the heading).
TextRecord ReadSection(std::string_view section);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_MARKDOWN_SECTIONS_H_
