// Events of a run as one line each, where progress and `runs show` say the same.
//
//   CompactionLine(event.data)
//   // "turns 2 to 7 became a summary: 3,412 -> 1,880 tokens; the journal keeps them"
//   PassageLine(event.data)  // "novel.txt, line 812: Morwenna Tregarth (3.1)"
//
// Thread-safety: pure.

#ifndef DOSSIER_CLI_RUNS_EVENT_LINES_H_
#define DOSSIER_CLI_RUNS_EVENT_LINES_H_

#include <string>
#include <string_view>

#include "base/json/json.h"

namespace dossier::cli {

// `data`: of an event `compaction.done`.
std::string CompactionLine(const Json& data);
// `data`: of an event `passage.read`. In brackets stands how sure the model is.
std::string PassageLine(const Json& data);
// What an event of a run of agents says that is done with a task now; "": nothing new.
std::string AgentStep(std::string_view type, const Json& data);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_EVENT_LINES_H_
