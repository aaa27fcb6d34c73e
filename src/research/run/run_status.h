// Shows the state of a run as text and as JSON, for `dossier research status` and `tree`.
//
//   const ResearchProgress status = StatusOf(history, *clock);
//   out << StatusText(status);
//
// Thread-safety: plain data; StatusOf reads the lock and the files of the run folder.

#ifndef DOSSIER_RESEARCH_RUN_RUN_STATUS_H_
#define DOSSIER_RESEARCH_RUN_RUN_STATUS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json/json.h"
#include "research/files/run_folder.h"
#include "research/run/run_history.h"
#include "research/tree/node.h"

namespace dossier::research {

inline constexpr std::string_view kStatusSchema = "dossier.research.status/1";
inline constexpr std::string_view kTreeSchema = "dossier.research.tree/1";

// kKilled: no process works on it, and it has not ended. It can be resumed, as kStopped (--until).
enum class ResearchState : std::uint8_t {
  kRunning,
  kWaiting,
  kKilled,
  kDone,
  kFailed,
  kLimited,
  kStopped
};
std::string_view RunStateName(ResearchState state);  // "running"

struct ResearchProgress {
  std::string run, folder, title;
  ResearchState state = ResearchState::kRunning;
  std::string stage;  // "" before the first
  std::int64_t round = 0;
  NodeCount nodes;
  std::int64_t running = 0;
  std::string best_id, best_name, best_metric;  // "": none
  std::string missing_metric;                   // the result of MissingMetric
  RunSpend spend;
  struct Waiting {
    std::string reason;
    std::int64_t seconds = 0;  // left
  };
  std::optional<Waiting> waiting;
  std::optional<RunLock::Holder> holder;
  std::string reason;  // why it ended
  struct Steered {
    std::string node, what;  // "draft 2", "pinned", "hint: use blocks"
    enum class Since : std::uint8_t { kInForce, kNextRound } since = Since::kInForce;
  };
  std::vector<Steered> steered;
};

// Returns what a person can do now, as a clause: "`dossier research resume …` goes on"; "": only
// wait.
std::string NextStepOf(const ResearchProgress& status);

ResearchProgress StatusOf(const RunHistory& history, const Clock& clock);
std::string StatusText(const ResearchProgress& status);
JsonObject StatusJson(const ResearchProgress& status);

// Returns one line per node, indented by depth, under each stage's name: `* best ! buggy ~ running
// s seed`. `stage`: 1 to 4; 0: all.
std::string TreeText(const RunHistory& history, int stage);
JsonObject TreeJson(const RunHistory& history, int stage);

// Returns a line for a person about an event just recorded; "" if there is nothing to report.
std::string EventLine(const store::Event& event);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_RUN_STATUS_H_
