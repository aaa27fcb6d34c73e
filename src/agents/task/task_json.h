// Stores a task in a run's record, and computes the digest that shows whether it changed.
//
//   events: {"tasks": [TaskToJson(task), …]}
//   if (TaskDigest(now) != TaskDigest(then)) Refuse();
//
// Thread-safety: pure functions.

#ifndef DOSSIER_AGENTS_TASK_TASK_JSON_H_
#define DOSSIER_AGENTS_TASK_TASK_JSON_H_

#include <string>

#include "base/json/json.h"
#include "sources/header/task.h"

namespace dossier::agents {

JsonObject TaskToJson(const sources::Task& task);
// Fields that are missing or have another type become empty.
sources::Task TaskFromJson(const Json& json);

// Returns SHA-256 over all that engine and policy depend on, without the task's file name.
std::string TaskDigest(const sources::Task& task);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_TASK_JSON_H_
