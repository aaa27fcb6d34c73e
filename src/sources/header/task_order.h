// Which tasks may start, and when.
//
//   DOSSIER_RETURN_IF_ERROR(CheckDependencies(list.tasks, merged, root));
//   for (const std::size_t index : StartOrder(list.tasks)) Show(list.tasks[index]);
//
// Thread-safety: functions over files that are only read.

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

inline constexpr std::size_t kMaxTaskProblems = 20;  // that are told

// kConfig with a line for each of `problems`; no problems, no error.
Status TellTaskProblems(std::vector<std::string> problems);

// No task waits for itself. Errors: kConfig with the cycle, shown as "a -> b -> a". `root` is where
// the files of the tasks are, for line and column.
Status CheckCycles(std::span<const Task> tasks, const std::string& root);

// Every dependency is the id of a task or in `merged`. Errors: kConfig, all unknown ids with the
// nearest ones.
Status CheckDependencies(std::span<const Task> tasks, const std::set<std::string>& merged,
                         const std::string& root);

// Indexes of all tasks, each after its dependencies, by StartsBefore among those that are ready.
// Needs checked dependencies.
std::vector<std::size_t> StartOrder(std::span<const Task> tasks);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_TASK_ORDER_H_
