// Phases 3 and 4: the compile commands, the run commands, the expected outputs.
//
// Thread-safety: one owner and one thread a node.

#ifndef DOSSIER_RESEARCH_NODE_PHASE_RUN_H_
#define DOSSIER_RESEARCH_NODE_PHASE_RUN_H_

#include "base/result.h"
#include "research/files/artifacts.h"
#include "research/node/phase_context.h"

namespace dossier::research {

// Nothing to do for a language that is not compiled.
Status Compile(PhaseContext& context, const Artifacts& artifacts);
Status RunProgram(PhaseContext& context, const Artifacts& artifacts);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_PHASE_RUN_H_
