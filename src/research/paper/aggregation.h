// Makes the figures of the paper, with one script over the data of the whole run.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Aggregation made, AggregatePlots(services, results, cancel));
//   for (const std::string& figure : made.figures) Use("figures/" + figure);
//
// The script auto_plot_aggregator.py runs in the sandbox: it reads the run's data (read-only) and
// writes its figures. If it fails, the run has no figures, and a warning. Errors: those of
// RoleCaller::Call and of the sandbox; kIo.
//
// Thread-safety: called only by the run's thread.

#ifndef DOSSIER_RESEARCH_PAPER_AGGREGATION_H_
#define DOSSIER_RESEARCH_PAPER_AGGREGATION_H_

#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "research/node/phases.h"
#include "research/node/results.h"

namespace dossier::research {

inline constexpr int kAggregationReflections = 5;

struct Aggregation {
  std::vector<std::string> figures;  // names in figures/, at most plots.max_figures, sorted
  std::string script;
  std::vector<std::string> warnings;
};

Result<Aggregation> AggregatePlots(const Services& services, const RunResults& results,
                                   const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_AGGREGATION_H_
