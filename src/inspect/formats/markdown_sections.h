// Splits Markdown without tables into sections, which are its records.
//
//   for (const ByteRange& range : FindSections(text)) Use(ReadSection(Slice(text, range)));
//
// A section begins with a heading (`## Title`) outside fenced code and ends at the next one of any
// level. Text before the first heading is in no section. Linear in the text. Thread-safety: pure
// functions.

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
// Returns level (1 to 6), title, and text (everything below the heading).
TextRecord ReadSection(std::string_view section);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_MARKDOWN_SECTIONS_H_
