// A run of `ask` or `chat`, told to a person from its journal: the question, what was sent, what
// came back and what it cost, turn by turn, and the answer.
//
//   TellRun(*journal, events, {.turn = 2}, status, out);
//
// Everything from the journal is cleaned for a terminal. Thread-safety: a function.

#ifndef DOSSIER_CLI_RUNS_RUN_STORY_H_
#define DOSSIER_CLI_RUNS_RUN_STORY_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

#include "store/journal.h"

namespace dossier::cli {

struct StoryOptions {
  std::optional<std::int64_t> turn;  // only this one
  enum class Messages { kFirstLines, kWhole } messages = Messages::kFirstLines;
};

// `status`: what the journal says of the run now; told where the run has no end.
void TellRun(store::Journal& journal, const std::vector<store::Event>& events,
             const StoryOptions& options, std::string_view status, std::ostream& out);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RUN_STORY_H_
