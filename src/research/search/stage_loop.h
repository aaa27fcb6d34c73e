// One of the four stages: rounds of nodes until the stage has what it is for, or its nodes are used
// up.
//
//   RunResults results{.title = driver.title, …};
//   DOSSIER_ASSIGN_OR_RETURN(const StageEnd end, RunStage(driver, {.stage = 1}, &results, cancel));
//   if (end == StageEnd::kNoWorkingProgram) return Fails(results);
//
// Each substage has a tree of its own, which begins with a copy of the best node so far. What is
// found enters `results` as it comes, so that a run that is ended can be written up. Errors: as
// MakeNode. Thread-safety: blocks its caller.

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
  std::int64_t cap = 0;            // nodes that it may make
  int retries = 0;                 // of a stage 1 that failed: as many nodes again, each time
  std::string evaluation_metrics;  // of define_metrics
};

Result<StageEnd> RunStage(const Driver& driver, const StageWork& work, RunResults* results,
                          const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_STAGE_LOOP_H_
