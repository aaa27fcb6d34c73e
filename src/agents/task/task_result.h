// The result of one task: its line in the log, and its part of the summary.
//
//   log.Add("task.finished", result.id, ResultToJson(result));
//
// Thread-safety: plain data.

#ifndef DOSSIER_AGENTS_TASK_TASK_RESULT_H_
#define DOSSIER_AGENTS_TASK_TASK_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/git/path_rules.h"
#include "agents/task/task_status.h"
#include "base/json/json.h"
#include "model/client/client.h"

namespace dossier::agents {

struct TaskResult {
  std::string id, summary;
  TaskStatus status = TaskStatus::kInterrupted;
  std::string reason;  // in words
  std::vector<std::string> targets;
  std::string confinement;         // from TryWalls: "jail", "jail without landlock", "none"
  std::vector<std::string> files;  // of the last patch
  std::vector<Violation> violations;
  Json propose_exit, review_exit;        // null: not run
  std::string patch_sha256, patch_file;  // of the last patch; empty: none
  std::string commit;                    // of the merge; empty: none
  std::string digest;                    // TaskDigest
  std::int64_t attempts = 0;
  double seconds = 0;
  std::optional<model::UsageSum> usage;  // unset: unknown
  std::vector<std::string> moved_branches;
  std::int64_t timestamp = 0;  // ms since 1970
};

// Without `task-id`, which the log adds.
JsonObject ResultToJson(const TaskResult& result);

// Returns {"denied": […], "not-allowed": […], "violations": [{rule, path, value, limit}]}.
JsonObject PolicyToJson(const std::vector<Violation>& violations);
// Returns the same for people and for the next attempt: one line each.
std::string ViolationsText(const std::vector<Violation>& violations);

// Returns {"input", "output", "cached", "cost_usd"}; null if unknown.
Json UsageToJson(const std::optional<model::UsageSum>& usage);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_TASK_RESULT_H_
