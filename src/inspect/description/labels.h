// Labels for formats, sizes and field lists, shared by hint, report and JSON.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_DESCRIPTION_LABELS_H_
#define DOSSIER_INSPECT_DESCRIPTION_LABELS_H_

#include <string>

#include "inspect/description/description.h"

namespace dossier::inspect {

// Returns the label without its bracketed part: "NDJSON", "CSV".
std::string ShortLabel(const Description& description);
// "1 line", "11,001 lines", "≥ 917 lines".
std::string Amount(std::uint64_t count, std::string_view one, std::string_view many,
                   Exactness exactness = Exactness::kExact);
// "3,800,000 chars (3,912,004 bytes), 11,001 lines"
std::string SizeText(const Description& description);
// "11,000 (3 malformed)"; empty if the format has no records.
std::string RecordsText(const Description& description);
// Returns "hashtags (62 %)".
std::string FieldText(const Field& field);
// Returns the line of a field for small models: "    hashtags (62 %): array, e.g. [\"arsenal\"]".
std::string FieldLine(const Field& field);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_LABELS_H_
