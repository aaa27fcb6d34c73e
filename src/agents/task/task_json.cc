#include "agents/task/task_json.h"

#include "base/hash.h"

namespace dossier::agents {
namespace {

using sources::Task;

// One table for reading and writing.
constexpr std::pair<std::string_view, std::string Task::*> kTexts[] = {
    {"id", &Task::id},
    {"summary", &Task::summary},
    {"description", &Task::description},
    {"cwd", &Task::cwd},
    {"file", &Task::file}};
constexpr std::pair<std::string_view, std::vector<std::string> Task::*> kLists[] = {
    {"acceptance", &Task::acceptance},
    {"files", &Task::files},
    {"targets", &Task::targets},
    {"dependencies", &Task::dependencies}};

}  // namespace

JsonObject TaskToJson(const Task& task) {
  JsonObject out;
  for (const auto& [name, field] : kTexts) out[name] = task.*field;
  for (const auto& [name, field] : kLists) {
    out[name] = JsonArray((task.*field).begin(), (task.*field).end());
  }
  out["priority"] = task.priority;
  if (task.queued) out["queued"] = true;
  return out;
}

Task TaskFromJson(const Json& json) {
  Task task;
  for (const auto& [name, field] : kTexts) {
    if (const auto text = FindString(json, name)) task.*field = *text;
  }
  for (const auto& [name, field] : kLists) {
    const Json* list = Find(json, name);
    if (!list || !list->is_array()) continue;
    for (const Json& one : list->get_array()) {
      if (const auto* text = one.if_string())
        (task.*field).emplace_back(text->data(), text->size());
    }
  }
  task.priority = FindInt(json, "priority").value_or(task.priority);
  task.queued = FindBool(json, "queued").value_or(false);
  return task;
}

std::string TaskDigest(const Task& task) {
  Task plain = task;
  plain.file.clear();
  plain.queued = false;
  return Sha256Hex(ToJson(Json(TaskToJson(plain))));
}

}  // namespace dossier::agents
