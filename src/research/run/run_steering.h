// Checks a person's order about a node of a run and stores it for the run: `dossier research pin`,
// `prune`, `hint`, `name`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Steered done,
//                            SteerRun(folder, {.kind = SteerKind::kPin, .node = "draft 2"},
//                            clock));
//   out << done.line;                      // "draft 2 is pinned from the next round on"
//
// The run may be active or not. Thread-safety: a function over files.

#ifndef DOSSIER_RESEARCH_RUN_RUN_STEERING_H_
#define DOSSIER_RESEARCH_RUN_RUN_STEERING_H_

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "research/run/run_history.h"
#include "research/search/steering.h"

namespace dossier::research {

inline constexpr std::size_t kMaxHint = 2'000;  // bytes
inline constexpr std::size_t kMaxNodeName = 40;

struct SteerRequest {
  SteerKind kind = SteerKind::kPin;
  std::string node;  // a name, or a prefix of an id
  std::string text;  // hint or name; "": removes it
};

struct Steered {
  SteerOrder order;
  std::string name;                                                          // the node's name
  enum class State : std::uint8_t { kLeft, kAlready } state = State::kLeft;  // kAlready: no change
  std::string line;                                                          // for a person
};

// Errors: kNotFound (no run, no such node, more than one), kInvalidArgument (a finished run, a node
// that the search has passed, a text that is too long, a name already in use), kIo.
Result<Steered> SteerRun(const std::string& folder, const SteerRequest& request,
                         const Clock& clock);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_RUN_STEERING_H_
