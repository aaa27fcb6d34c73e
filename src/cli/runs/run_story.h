// Describes a run of `ask` or `chat` to a person, from its journal: the question, what was sent,
// what came back and what it cost, turn by turn, and the answer.
//
//   TellRun(*journal, events, {.turn = 2}, status, out);
//
// Text from the journal is made safe for a terminal. Thread-safety: a function.

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
  std::optional<std::int64_t> turn;  // show only this turn
  enum class Messages { kFirstLines, kWhole } messages = Messages::kFirstLines;
  // kUnseen: the run is from another machine, so its paths are not looked up on this one.
  enum class Paths { kLookedAt, kUnseen } paths = Paths::kLookedAt;
};

// `status`: the run's current status in the journal, shown if the run has no end.
void TellRun(store::Journal& journal, const std::vector<store::Event>& events,
             const StoryOptions& options, std::string_view status, std::ostream& out);

// Formats events of a run as one line each, the same for progress and `runs show`.
//
//   CompactionLine(event.data)
//   // "turns 2 to 7 became a summary: 3,412 -> 1,880 tokens; the journal keeps them"
//   PassageLine(event.data)  // "novel.txt, line 812: Morwenna Tregarth (3.1)"
//
// Thread-safety: pure.

// `data`: that of an event `compaction.done`.
std::string CompactionLine(const Json& data);
// `data`: that of an event `passage.read`. The model's confidence is in brackets.
std::string PassageLine(const Json& data);
// Returns what an event of an agents run says about a task; "": nothing new.
std::string AgentStep(std::string_view type, const Json& data);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RUN_STORY_H_
