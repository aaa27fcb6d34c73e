// Formats and parses one line of a run log: an event of the journal as JSON.
//
//   LogLine(event)    // {"v":1,"run":"run-…","seq":7,"time":"…","event":"patch.taken",…}\n
//   if (const auto line = ParseLogLine(text)) Use(line->event, line->data);
//
// The same event always gives the same bytes, so a log can be rebuilt from the journal.
// Thread-safety: pure functions.

#ifndef DOSSIER_AGENTS_TASK_LOG_LINE_H_
#define DOSSIER_AGENTS_TASK_LOG_LINE_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "store/journal.h"

namespace dossier::agents {

// Includes the line end.
std::string LogLine(const store::Event& event);

// A line written by any version; in the AgentNet form, which has only results, `event` is
// "task.finished" and `seq` 0.
struct ParsedEvent {
  std::string run, event, time;
  std::int64_t seq = 0;
  JsonObject data;  // the whole line
};
std::optional<ParsedEvent> ParseLogLine(std::string_view line);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_LOG_LINE_H_
