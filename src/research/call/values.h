// The value of a section as assembly takes it.
//
//   const assembly::Section section = SectionOf({"tried", JsonArray{"batch size"}});
//
// Text is trimmed; numbers, booleans, lists and maps are data, which assembly renders as Markdown;
// a list of parts of type text, image, image_url, tool_use and tool_result passes through as
// blocks. Secrets are taken out. Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_CALL_VALUES_H_
#define DOSSIER_RESEARCH_CALL_VALUES_H_

#include <string>

#include "assembly/assemble.h"
#include "base/json/json.h"
#include "research/call/caller.h"

namespace dossier::research {

assembly::Section SectionOf(const OwnSection& section);
// Whether a value shows nothing: null, "", [], {}.
bool IsEmptyValue(const Json& value);
// The section's value as text, for queries of memory.
std::string ValueText(const OwnSection& section);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_VALUES_H_
