// Summarises a stage: a JSON record for each relevant node, and a text by a model.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Json summary, SummarizeStage(services, results, stage, cancel));
//   const Json all = ReadSummaries(run_folder);   // {"baseline": …, "research": …, "ablation": …}
//   request.sections = {{"summaries", FilterSummaries(all, SummaryFilter::kCitations)}};
//
// Stages 1 and 2 share baseline_summary.json; the later one overwrites it. A stage's records are
// those of all its substages so far. Without a model's answer the text is made from the records.
// Thread-safety: functions over arguments and the run folder.

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

// Returns {"schema", "stage", "best_node", "seed_statistics", "nodes": [records], "ablations":
// [records], "text": {…}} and writes it to logs/NAME_summary.json. Errors: RoleCaller's, kIo.
Result<Json> SummarizeStage(const Services& services, const RunResults& results,
                            const StageResults& stage, const CancelToken& cancel);

// Reads the run folder's summaries; missing ones are left out. Errors: kIo, kDamaged.
Result<Json> ReadSummaries(const std::string& run_folder);

// Selects the fields of node records that a prompt gets.
enum class SummaryFilter : std::uint8_t { kCitations, kWriteup, kPlots };
Json FilterSummaries(const Json& summaries, SummaryFilter filter);

// Returns the record of one node, with every field that a filter can select.
JsonObject NodeRecord(const Node& node);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_SUMMARIES_H_
