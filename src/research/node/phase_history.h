// Builds the history of a node as a JSON object, which is shown when its children are planned.
//
//   {"phase_summaries": {"phase1": "done: 3 steps", …},
//    "phase1_steps_summary": {"total_steps", "failed_steps", "dependencies", "recent_commands"},
//    "compile_log_summary", "compile_errors", "run_log_summary", "run_errors",
//    "llm_output_summary": {"workspace_tree", "file_paths", "build_plan"}}
//
// Thread-safety: functions over their arguments.

#ifndef DOSSIER_RESEARCH_NODE_PHASE_HISTORY_H_
#define DOSSIER_RESEARCH_NODE_PHASE_HISTORY_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "research/exec/exec_backend.h"
#include "research/files/artifacts.h"
#include "research/node/phase1.h"

namespace dossier::research {

void SetPhaseSummary(Phase phase, std::string_view text, Json& history);
void SetStepsSummary(const std::vector<InstallStep>& steps, const Json& plan, Json& history);
void SetArtifactsSummary(const Artifacts& artifacts, Json& history);
// `name`: "compile" or "run". `output` is that of the whole command list, `errors` that of the
// failed command; "" if none failed.
void SetOutputSummary(std::string_view name, std::string_view output, std::string_view errors,
                      Json& history);
// Returns the errors of the command that ended the node; "" if no command failed.
std::string ErrorsOf(const Json& history);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_PHASE_HISTORY_H_
