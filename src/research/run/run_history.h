// Reads the history of a run from its journal, for `status`, `tree` and `report`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const RunHistory history, ReadRunHistory(folder));
//   history.results.stages.back().tree.nodes
//
// Nothing is written, so the run may be active meanwhile. Thread-safety: plain data; a function.

#ifndef DOSSIER_RESEARCH_RUN_RUN_HISTORY_H_
#define DOSSIER_RESEARCH_RUN_RUN_HISTORY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "research/node/results.h"
#include "research/run/report.h"
#include "research/run/run_budget.h"
#include "research/search/steering.h"
#include "research/tree/run_log.h"

namespace dossier::research {

struct RunHistory {
  std::string run, folder;
  RunResults results;            // title and stages, in the order in which they began
  std::vector<Node> unfinished;  // created, not ended: running, or cut off by a kill
  std::int64_t round = 0;        // of the last stage
  RunSpend spend;
  model::UsageSum usage;                             // of calls that belong to no node in `results`
  std::map<std::string, std::int64_t> memory_reads;  // by phase: for prompts, and on request
  std::vector<SteerOrder> steered;                   // in force
  std::vector<SteerOrder> left;                      // in force from the next round on
  std::optional<RunEnd> end;                         // unset: it is running, or was killed
  std::string reason;                                // why it ended or broke off
  std::string over;            // the stage that ended last; the next one begins with its best node
  std::string primary_metric;  // from the configuration; "": unreadable, any metric will do
  std::vector<std::string> warnings;
};

// Errors: kNotFound (no run in the folder), kDamaged, those of the journal.
Result<RunHistory> ReadRunHistory(const std::string& folder);
Result<RunHistory> HistoryOf(const ResearchLog& log);
// Returns what the plans of a later attempt are shown: the history of the best node, else of the
// last one that has a history. Null: there is none.
Json PlanHistory(const RunHistory& history);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_RUN_HISTORY_H_
