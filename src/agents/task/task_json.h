// A task as a run remembers it: in its record, and as the digest that says whether it changed.
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
// What is missing or of another type is empty.
sources::Task TaskFromJson(const Json& json);

// SHA-256 over all that an engine or the policy goes by; not the file that it stands in.
std::string TaskDigest(const sources::Task& task);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_TASK_JSON_H_
