// Decides whether a small model's plain answer over a whole context can be trusted.
//
//   const DirectCheck check = CheckDirect(run, context, result.text);
//   if (check.settled) return *check.settled;   // what the readings agree on
//   … the question goes to code; check.leading is one vote there
//
// A plain answer of a small model is wrong about one time in three, and its own probabilities do
// not show when (docs/small-models.md). Three checks together do: whether it answers the same again
// after copying the sentences it answers from; whether the answer occurs in the context, since a
// count that occurs nowhere was made up; and whether the model, when asked, finds that the context
// states an answer. All requests have the same prefix, so a server that caches prefixes reads the
// context once. Waits for the model. Thread-safety: one run, one thread.

#ifndef DOSSIER_ASK_LOOP_DIRECT_CHECK_H_
#define DOSSIER_ASK_LOOP_DIRECT_CHECK_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/run/run_state.h"

namespace dossier::ask {

struct DirectCheck {
  std::optional<std::string> settled;  // the answer to give
  std::string leading;  // the answer of most readings that the context contains; empty: none
  int readings = 0, agreeing = 0;
  bool stopped = false;      // a request failed or a limit left no room: code would fail as well
  bool interrupted = false;  // stopped from outside
  std::string doubt;         // why nothing is settled, in a sentence; else empty
};

// Returns true if this run checks such an answer: a short one, of a small model that may be asked
// more than once. Prose is not compared, since two correct summaries share few words.
bool ChecksDirect(const RunState& run, std::string_view answer);

// `context` is the whole context as shown to the model, `answer` its first answer. A request that
// fails or exceeds a limit leaves the answer unsettled.
DirectCheck CheckDirect(RunState& run, const std::string& context, const std::string& answer);

// Returns the indices of the largest group of readings that agree with one reading; the earliest
// among equals. Empty answers agree with nothing.
std::vector<std::size_t> LargestAgreeing(const std::vector<std::string>& answers,
                                         const std::string& question);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_DIRECT_CHECK_H_
