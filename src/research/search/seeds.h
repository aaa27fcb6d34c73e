// Runs the best program of a stage again with other seeds, to see how far its metric can be
// trusted.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Json statistics,
//       RunSeeds(driver, {.stage = 1, .name = name, .round = 4, .best = best.id}, &tree, cancel));
//
// A model is asked once to make the program read DOSSIER_SEED; without an answer that holds, the
// variable alone is set, with a warning. The reruns enter the tree as children of the best node,
// then one node that stands for all of them, with their plot. Errors: as MakeNode.
//
// Thread-safety: called by the thread of the run alone; it returns when all seeds are done.

#ifndef DOSSIER_RESEARCH_SEARCH_SEEDS_H_
#define DOSSIER_RESEARCH_SEARCH_SEEDS_H_

#include <string>

#include "research/node/driver.h"
#include "research/tree/node.h"

namespace dossier::research {

struct SeedOrder {
  int stage = 1;           // 1 to 4
  std::string name;        // of the stage
  std::int64_t round = 0;  // the first one that the stage did not make: names the nodes
  std::string best;        // id
};

// What SeedStatisticsJson makes of the reruns (metric.h); null: there was nothing to run again.
Result<Json> RunSeeds(const Driver& driver, const SeedOrder& order, Tree* tree,
                      const CancelToken& cancel);

// `artifacts` with the contents of `files` ([{path, content}]) in the place of its own. Errors:
// kInvalidArgument for a path that it does not have.
Result<Json> WithFiles(Json artifacts, const Json& files);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_SEEDS_H_
