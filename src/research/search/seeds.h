// Reruns the best program of a stage with other seeds, to find out how reliable its metric is.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Json statistics,
//       RunSeeds(driver, {.stage = 1, .name = name, .round = 4, .best = best.id}, &tree, cancel));
//
// A model is asked once to make the program read DOSSIER_SEED; without a valid answer only the
// variable is set, with a warning. The reruns enter the tree as children of the best node, followed
// by one node that represents all of them, with their plot. Errors: as MakeNode.
//
// Thread-safety: called only by the run's thread; returns when all seeds are done.

#ifndef DOSSIER_RESEARCH_SEARCH_SEEDS_H_
#define DOSSIER_RESEARCH_SEARCH_SEEDS_H_

#include <string>

#include "research/node/driver.h"
#include "research/tree/node.h"

namespace dossier::research {

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

#endif  // DOSSIER_RESEARCH_SEARCH_SEEDS_H_
