// Builds what the prompts say about a context.
//
// Thread-safety: pure.

#ifndef DOSSIER_ASK_LOOP_METADATA_H_
#define DOSSIER_ASK_LOOP_METADATA_H_

#include "ask/loop/call_loop.h"
#include "ask/run/run_state.h"

namespace dossier::ask {

Metadata MakeMetadata(const RunState& run);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_METADATA_H_
