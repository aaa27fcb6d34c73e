// Runs one of the four stages: rounds of nodes until the stage reaches its goal or its node limit.
//
//   RunResults results{.title = driver.title, …};
//   DOSSIER_ASSIGN_OR_RETURN(const StageEnd end, RunStage(driver, {.stage = 1}, &results, cancel));
//   if (end == StageEnd::kNoWorkingProgram) return Fails(results);
//
// Each substage has its own tree, which begins with a copy of the best node so far. Findings are
// added to `results` immediately, so that an interrupted run can be written up. Errors: as
// MakeNode. Thread-safety: blocks the caller.

#ifndef DOSSIER_RESEARCH_SEARCH_STAGE_LOOP_H_
#define DOSSIER_RESEARCH_SEARCH_STAGE_LOOP_H_

#include <cstdint>
#include <string>

#include "research/node/driver.h"
#include "research/node/results.h"

namespace dossier::research {

// kCut: --until named a phase.
enum class StageEnd : std::uint8_t { kDone, kNoWorkingProgram, kCut };

struct StageWork {
  int stage = 1;                   // 1 to 4
  std::int64_t cap = 0;            // maximum number of nodes it makes
  int retries = 0;                 // retries of a failed stage 1: each allows as many nodes again
  std::string evaluation_metrics;  // from define_metrics
};

Result<StageEnd> RunStage(const Driver& driver, const StageWork& work, RunResults* results,
                          const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_STAGE_LOOP_H_
