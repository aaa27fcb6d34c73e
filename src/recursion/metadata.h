// What the prompts say about a context (REC-6).
//
// Thread-safety: pure.

#ifndef DOSSIER_RECURSION_METADATA_H_
#define DOSSIER_RECURSION_METADATA_H_

#include "recursion/call_loop.h"
#include "recursion/context_set.h"

namespace dossier::recursion {

// `max_subcall_chars` flags the documents that no sub-call can take whole.
Metadata MakeMetadata(const ContextSet& context, Profile profile, std::int64_t max_subcall_chars);

}  // namespace dossier::recursion

#endif  // DOSSIER_RECURSION_METADATA_H_
