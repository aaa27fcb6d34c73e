// The file run.json of a run folder: which run this is, and what was ordered, so that a resume does
// the same.
//
//   const std::string text = RunRecordText(RecordOf(order, run_id, title));
//   DOSSIER_ASSIGN_OR_RETURN(const RunRecord record, ReadRunRecord(folder));
//
// Thread-safety: functions over files.

#ifndef DOSSIER_RESEARCH_RUN_RUN_RECORD_H_
#define DOSSIER_RESEARCH_RUN_RUN_RECORD_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "research/run.h"

namespace dossier::research {

inline constexpr std::string_view kRunSchema = "dossier.research.run/1";

struct RunRecord {
  std::string run;    // journal id
  std::string title;  // title of the idea
  std::vector<int> stages = {1, 2, 3, 4};
  std::optional<Step> until;
  std::vector<RunOrder::Skip> skip;
  std::string memory_store;  // absolute; "": in the run folder
  JsonObject connection;     // RunOrder::connection
};

RunRecord RecordOf(const RunOrder& order, std::string_view run, std::string_view title);
std::string RunRecordText(const RunRecord& record);  // text of the file
// Errors: kNotFound (no run in the folder), kDamaged naming the field.
Result<RunRecord> ReadRunRecord(const std::string& folder);

// "phase0", …, "review": the values of --until, in the order of a run.
std::span<const std::string_view> StepNames();
std::string_view StepName(Step step);
std::optional<Step> FindStep(std::string_view name);
std::string_view SkipName(RunOrder::Skip skip);  // "plots"
// Parses "1-4", "1" or "1,3" of a new run to ascending, unique numbers. Errors: kUsage.
Result<std::vector<int>> ParseStages(std::string_view text);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_RUN_RECORD_H_
