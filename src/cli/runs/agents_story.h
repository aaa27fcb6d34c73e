// A run of `dossier agents`, told to a person from its journal: one task after the other, whatever
// order their steps had, each with its engines, patch, checks, verdicts and commit.
//
//   TellAgentsRun(*journal, events, status, out);
//
// Everything from the journal is cleaned for a terminal. Thread-safety: a function.

#ifndef DOSSIER_CLI_RUNS_AGENTS_STORY_H_
#define DOSSIER_CLI_RUNS_AGENTS_STORY_H_

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "store/journal.h"

namespace dossier::cli {

// Where the prompts and the output of the engines lie; `started`: of `run.started`.
std::string AgentsFolder(const store::Event& started);

// `status`: what the journal says of the run now.
void TellAgentsRun(store::Journal& journal, const std::vector<store::Event>& events,
                   std::string_view status, std::ostream& out);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_AGENTS_STORY_H_
