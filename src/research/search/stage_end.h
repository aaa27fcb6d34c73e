// Ends a stage or substage: chooses the best node, reruns it with other seeds, writes summary and
// files.
//
//   DOSSIER_RETURN_IF_ERROR(EndSubstage(driver, {.view = view, .seeds = SeedRuns::kYes}, &results,
//                                       cancel));
//   results.best_node                      // of the run so far
//
// Works on the last of `results.stages`. Errors: as MakeNode; kIo.
//
// Thread-safety: called only by the run's thread.

#ifndef DOSSIER_RESEARCH_SEARCH_STAGE_END_H_
#define DOSSIER_RESEARCH_SEARCH_STAGE_END_H_

#include <cstdint>

#include "research/node/driver.h"
#include "research/node/results.h"
#include "research/search/stage_questions.h"

namespace dossier::research {

// The last substage of a stage reruns its best program (kYes).
enum class SeedRuns : std::uint8_t { kNo, kYes };

struct SubstageEnd {
  StageView view;
  SeedRuns seeds = SeedRuns::kNo;
  std::size_t steered = 0;  // number of people's orders in force in the last round
};

Status EndSubstage(const Driver& driver, const SubstageEnd& end, RunResults* results,
                   const CancelToken& cancel);

// Writes logs/stage_NAME/journal.json, best_node_id.txt, notes/, and stage_best/NAME from `stage`.
Status WriteStageFiles(const Driver& driver, const StageResults& stage);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_STAGE_END_H_
