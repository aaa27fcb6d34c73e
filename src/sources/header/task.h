// The tasks of a repository, as people keep them in files.
//
//   DOSSIER_ASSIGN_OR_RETURN(TaskList list, LoadTasks(root, {}));
//   std::stable_sort(list.tasks.begin(), list.tasks.end(), StartsBefore);
//   list.tasks.front().id;       // "fact-001"
//
// Thread-safety: plain data and functions over files that are only read.

#ifndef DOSSIER_SOURCES_HEADER_TASK_H_
#define DOSSIER_SOURCES_HEADER_TASK_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::sources {

inline constexpr std::int64_t kDefaultPriority = 1000;
inline constexpr std::string_view kTasksStem = "config/tasks";  // for FindDataFile

// One unit of work. Texts are as they stand in the file.
struct Task {
  std::string id, summary;  // never empty
  std::string description;
  std::vector<std::string> acceptance;
  std::vector<std::string> files;         // paths to read first
  std::vector<std::string> targets;       // paths it may touch; empty: all that the policy allows
  std::vector<std::string> dependencies;  // ids
  std::int64_t priority = kDefaultPriority;  // the smallest starts first
  std::string cwd = ".";
  // The file it was read from, relative to the root; of a folder queue the one-task file.
  std::string file;

  bool operator==(const Task&) const = default;
};

struct TaskList {
  std::vector<Task> tasks;             // in the order of the sources
  std::vector<std::string> completed;  // ids in the `complete` folder of a folder queue
  std::vector<std::string> warnings;
};

// Reads `sources`, each relative to `root`: a file of tasks (its ending says which), the folder of
// a folder queue (`tasks`: its `pending` is read), or `notes:proposed_tasks` (the green proposals
// under `notes`). No sources: the one of config/tasks.edn, .yaml, .yml and .json that is there, and
// `tasks`. A folder that is missing is an empty queue.
// Errors: kConfig, "FILE:LINE:COL: task 2 (ID): …": a missing or broken file, a key that is none or
// of another type, a task without id or summary, an id twice, tasks that wait for each other, two
// default files. What is wrong with several tasks is told at once, a line each.
Result<TaskList> LoadTasks(const std::string& root, const std::vector<std::string>& sources,
                           const std::string& notes = "agent_notes");

// "FILE:LINE:COL" of the key in the file of `task`, of the task where it lacks the key, else the
// file. Reads the file, so it is for errors.
std::string PlaceOfTask(const std::string& root, const Task& task, std::string_view key);

// For a stable sort: by priority, then by id as bytes.
bool StartsBefore(const Task& a, const Task& b);

// A priority as written: 3, "P2", " p2 ", "7". kDefaultPriority and a sentence in `problem` for
// what cannot be read.
std::int64_t ReadPriority(const Json& value, std::string* problem);

// An id as part of a file or ref name: characters outside A-Za-z0-9._- become `-`; if any did, if
// it is over 64 bytes, or if a file or ref must not be called so, `-` and 8 hex digits of its
// SHA-256 follow.
std::string FileNameOfId(std::string_view id);

// Which tasks may start, and when.
//
//   DOSSIER_RETURN_IF_ERROR(CheckDependencies(list.tasks, merged, root));
//   for (const std::size_t index : StartOrder(list.tasks)) Show(list.tasks[index]);
//
// Thread-safety: functions over files that are only read.

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

#endif  // DOSSIER_SOURCES_HEADER_TASK_H_
