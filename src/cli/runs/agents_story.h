// Describes a run of `dossier agents` to a person, from its journal: one task after another, in
// whatever order their steps ran, each with its engines, patch, checks, verdicts and commit.
//
//   TellAgentsRun(*journal, events, status, out);
//
// Text from the journal is made safe for a terminal. Thread-safety: a function.

#ifndef DOSSIER_CLI_RUNS_AGENTS_STORY_H_
#define DOSSIER_CLI_RUNS_AGENTS_STORY_H_

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "store/journal.h"

namespace dossier::cli {

// Returns the folder of the engines' prompts and output. `started`: the event `run.started`.
std::string AgentsFolder(const store::Event& started);

// `status`: the run's current status in the journal.
void TellAgentsRun(store::Journal& journal, const std::vector<store::Event>& events,
                   std::string_view status, std::ostream& out);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_AGENTS_STORY_H_
