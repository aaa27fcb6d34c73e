// Summarises a stage: one JSON record for each node that matters, and a text by a model.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Json summary, SummarizeStage(services, results, stage, cancel));
//   const Json all = ReadSummaries(run_folder);   // {"baseline": …, "research": …, "ablation": …}
//   request.sections = {{"summaries", FilterSummaries(all, SummaryFilter::kCitations)}};
//
// Stages 1 and 2 share baseline_summary.json: the later one holds. Without an answer of a model the
// text is made from the records. Thread-safety: functions over their arguments and the run folder.

#ifndef DOSSIER_RESEARCH_SEARCH_SUMMARIES_H_
#define DOSSIER_RESEARCH_SEARCH_SUMMARIES_H_

#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/result.h"
#include "research/node/phases.h"
#include "research/node/results.h"

namespace dossier::research {

std::string_view SummaryName(int stage);  // "baseline": logs/baseline_summary.json

// {"schema", "stage", "best_node", "seed_statistics", "nodes": [records], "ablations": [records],
// "text": {…}}; written to logs/NAME_summary.json, too. Errors: Caller::Call's, kIo.
Result<Json> SummarizeStage(const Services& services, const RunResults& results,
                            const StageResults& stage, const CancelToken& cancel);

// Of the run folder; a summary that is not there is left out. Errors: kIo, kDamaged.
Result<Json> ReadSummaries(const std::string& run_folder);

// Which fields of node records a prompt gets.
enum class SummaryFilter : std::uint8_t { kCitations, kWriteup, kPlots };
Json FilterSummaries(const Json& summaries, SummaryFilter filter);

// The record of one node, with every field that a filter knows.
JsonObject NodeRecord(const Node& node);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_SUMMARIES_H_
