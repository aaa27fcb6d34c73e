// Whether a small model's plain answer over a whole context may be believed.
//
//   const DirectCheck check = CheckDirect(run, context, result.text);
//   if (check.settled) return *check.settled;   // what the readings agree on
//   … the question goes to code; check.leading is one vote there
//
// A plain answer of a small model is wrong about one time in three, and its own probabilities do
// not tell which (docs/small-models.md). Three things together do: whether it says the same again
// after it has copied the sentences that it answers from; whether what it says stands in the
// context, since a count that stands nowhere was made up; and whether the model, asked for it,
// finds that the context states an answer. All requests begin alike, so the context is read once
// where the server keeps prefixes. Waits for the model. Thread-safety: one run, one thread.

#ifndef DOSSIER_ASK_LOOP_DIRECT_CHECK_H_
#define DOSSIER_ASK_LOOP_DIRECT_CHECK_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/run/run_state.h"

namespace dossier::ask {

struct DirectCheck {
  std::optional<std::string> settled;  // the answer that may be given
  std::string leading;  // what most readings say and the context holds; empty if there is no such
  int readings = 0, agreeing = 0;
  bool stopped = false;  // a request failed or a limit left no room: code would not get far either
  bool interrupted = false;  // it was stopped from outside
  std::string doubt;         // why nothing is settled, in a sentence; empty if something is
};

// Whether this run checks such a plain answer: that of a small model which may be asked more than
// once, and short. Two right summaries share few words, so prose is not compared.
bool ChecksDirect(const RunState& run, std::string_view answer);

// `context`: all of it, as the model was shown it. `answer`: what it said first. A request that
// fails, or that a limit does not allow, leaves the answer unsettled.
DirectCheck CheckDirect(RunState& run, const std::string& context, const std::string& answer);

// The readings that agree with one of them, as indices: the largest such group, the earliest of
// equals. Empty answers agree with nothing.
std::vector<std::size_t> LargestAgreeing(const std::vector<std::string>& answers,
                                         const std::string& question);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_DIRECT_CHECK_H_
