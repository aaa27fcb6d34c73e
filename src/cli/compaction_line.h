// The line that says that old turns made room in a prompt; for progress and `runs show`.
//
//   CompactionLine(event.data)
//   // "turns 2 to 7 became a summary: 3,412 -> 1,880 tokens; the journal keeps them"
//
// Thread-safety: pure.

#ifndef DOSSIER_CLI_COMPACTION_LINE_H_
#define DOSSIER_CLI_COMPACTION_LINE_H_

#include <string>

#include "base/json.h"

namespace dossier::cli {

// `data`: of an event `compaction.done`.
std::string CompactionLine(const Json& data);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_COMPACTION_LINE_H_
