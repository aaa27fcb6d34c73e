// The prompt of one question to a model, made by the layout of its call site.
//
//   DOSSIER_ASSIGN_OR_RETURN(const assembly::Assembled prompt,
//                            MakePrompt(parts, site, request, ask, memory, model));
//
// Thread-safety: pure but for its arguments.

#ifndef DOSSIER_RESEARCH_CALL_CALL_PROMPT_H_
#define DOSSIER_RESEARCH_CALL_CALL_PROMPT_H_

#include <optional>

#include "assembly/assemble.h"
#include "memory/blocks/rounds.h"
#include "research/call/call_memory.h"
#include "research/call/call_parts.h"

namespace dossier::research {

// `memory`: none where the call has none. Errors: kTooLong, kConfig (a template without a value),
// kInternal (a section that the layout does not have), kNotFound (a required section is empty).
Result<assembly::Assembled> MakePrompt(CallParts& parts, const CallSite& site,
                                       const CallRequest& request, const memory::Ask& ask,
                                       const std::optional<MemoryText>& memory,
                                       const driver::BoundModel& model);

// The tool that a reply is forced into; none: the model has no tools, or the site asks for none.
std::optional<assembly::ToolSpec> ForcedTool(const CallParts& parts, const CallSite& site,
                                             const driver::BoundModel& model);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_CALL_PROMPT_H_
