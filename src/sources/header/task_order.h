// Which tasks may start, and when.
//
//   DOSSIER_RETURN_IF_ERROR(CheckTasks(list.tasks));
//   DOSSIER_RETURN_IF_ERROR(CheckDependencies(list.tasks, merged));
//   for (const std::size_t index : StartOrder(list.tasks)) Show(list.tasks[index]);
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SOURCES_HEADER_TASK_ORDER_H_
#define DOSSIER_SOURCES_HEADER_TASK_ORDER_H_

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sources/header/task.h"

namespace dossier::sources {

// What `agents run` needs of every task: an id and a summary. Errors: kConfig with file and task.
Status CheckTasks(std::span<const Task> tasks);

// Every dependency is the id of a task or in `merged`, and none leads back to its own task.
// Errors: kConfig: an unknown id with the nearest ones; a cycle, shown as "a -> b -> a".
Status CheckDependencies(std::span<const Task> tasks, const std::set<std::string>& merged);

// Indexes of all tasks, each after its dependencies, by StartsBefore among those that are ready.
// Needs checked dependencies.
std::vector<std::size_t> StartOrder(std::span<const Task> tasks);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_TASK_ORDER_H_
