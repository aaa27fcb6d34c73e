// The end of a stage or substage: its best node, the reruns with other seeds, what it found in
// words, its files.
//
//   DOSSIER_RETURN_IF_ERROR(EndSubstage(driver, {.view = view, .seeds = SeedRuns::kYes}, &results,
//                                       cancel));
//   results.best_node                      // of the run so far
//
// Works on the last of `results.stages`. Errors: as MakeNode; kIo.
//
// Thread-safety: called by the thread of the run alone.

#ifndef DOSSIER_RESEARCH_SEARCH_STAGE_END_H_
#define DOSSIER_RESEARCH_SEARCH_STAGE_END_H_

#include <cstdint>

#include "research/node/driver.h"
#include "research/node/results.h"
#include "research/search/stage_questions.h"

namespace dossier::research {

// The last substage of a stage runs its best program again.
enum class SeedRuns : std::uint8_t { kNo, kYes };

struct SubstageEnd {
  StageView view;
  SeedRuns seeds = SeedRuns::kNo;
  std::size_t steered = 0;  // orders of people that were in force in the last round
};

Status EndSubstage(const Driver& driver, const SubstageEnd& end, RunResults* results,
                   const CancelToken& cancel);

// logs/stage_NAME/journal.json, best_node_id.txt, notes/, and stage_best/NAME: from what is there.
Status WriteStageFiles(const Driver& driver, const StageResults& stage);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_STAGE_END_H_
