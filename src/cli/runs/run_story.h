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
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "store/journal.h"

namespace dossier::cli {

struct StoryOptions {
  std::optional<std::int64_t> turn;  // only this one
  enum class Messages { kFirstLines, kWhole } messages = Messages::kFirstLines;
  // kUnseen: of a run of another machine, whose paths are none of this one's.
  enum class Paths { kLookedAt, kUnseen } paths = Paths::kLookedAt;
};

// `status`: what the journal says of the run now; told where the run has no end.
void TellRun(store::Journal& journal, const std::vector<store::Event>& events,
             const StoryOptions& options, std::string_view status, std::ostream& out);

// Events of a run as one line each, where progress and `runs show` say the same.
//
//   CompactionLine(event.data)
//   // "turns 2 to 7 became a summary: 3,412 -> 1,880 tokens; the journal keeps them"
//   PassageLine(event.data)  // "novel.txt, line 812: Morwenna Tregarth (3.1)"
//
// Thread-safety: pure.

// `data`: of an event `compaction.done`.
std::string CompactionLine(const Json& data);
// `data`: of an event `passage.read`. In brackets stands how sure the model is.
std::string PassageLine(const Json& data);
// What an event of a run of agents says that is done with a task now; "": nothing new.
std::string AgentStep(std::string_view type, const Json& data);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RUN_STORY_H_
