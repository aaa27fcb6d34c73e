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
#include <string>

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

// Reruns the best program of a stage with other seeds, to find out how reliable its metric is. A
// model is asked once to make the program read DOSSIER_SEED; without a valid answer only the
// variable is set, with a warning. The reruns enter the tree as children of the best node, followed
// by one node that represents all of them, with their plot.

struct SeedOrder {
  int stage = 1;           // 1 to 4
  std::string name;        // of the stage
  std::int64_t round = 0;  // the first one the stage did not make; part of the node ids
  std::string best;        // id
};

// Returns SeedStatisticsJson of the reruns (metric.h); null if there was nothing to rerun.
Result<Json> RunSeeds(const Driver& driver, const SeedOrder& order, Tree* tree,
                      const CancelToken& cancel);

// Returns `artifacts` with the contents of `files` ([{path, content}]) instead of its own. Errors:
// kInvalidArgument for a path that it does not have.
Result<Json> WithFiles(Json artifacts, const Json& files);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_STAGE_END_H_
