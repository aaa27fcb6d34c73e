// Converts the value of a section to the form that assembly takes.
//
//   const assembly::Section section = SectionOf({"tried", JsonArray{"batch size"}});
//
// Text is trimmed; numbers, booleans, lists and maps are data, which assembly renders as Markdown;
// a list of parts of type text, image, image_url, tool_use and tool_result passes through as
// blocks. Secrets are removed. Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_CALL_VALUES_H_
#define DOSSIER_RESEARCH_CALL_VALUES_H_

#include <string>

#include "assembly/assemble.h"
#include "base/json/json.h"
#include "research/call/caller.h"

namespace dossier::research {

assembly::Section SectionOf(const OwnSection& section);
// Returns true if a value shows nothing: null, "", [], {}.
bool IsEmptyValue(const Json& value);
// Returns the section's value as text, for memory queries.
std::string ValueText(const OwnSection& section);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_VALUES_H_
