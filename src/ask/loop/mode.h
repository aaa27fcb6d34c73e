// Direct or recursive.

#ifndef DOSSIER_ASK_LOOP_MODE_H_
#define DOSSIER_ASK_LOOP_MODE_H_

#include <string>

#include "ask/run/run_state.h"

namespace dossier::ask {

struct ModeDecision {
  Mode mode = Mode::kRecursive;  // never kAuto
  std::int64_t tokens = 0;       // of question, context and template
  std::int64_t threshold = 0;    // direct up to here
  std::string reason;
};

// Errors: kTooLong for `--mode direct` with too large a context, naming tokens and limit.
Result<ModeDecision> DecideMode(RunState& run);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_MODE_H_
