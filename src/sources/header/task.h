// The tasks of a repository, which people keep in files.
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

// One unit of work. Texts are as in the file.
struct Task {
  std::string id, summary;  // never empty
  std::string description;
  std::vector<std::string> acceptance;
  std::vector<std::string> files;         // paths to be read first
  std::vector<std::string> targets;       // paths it may change; empty: all that the policy allows
  std::vector<std::string> dependencies;  // ids
  std::int64_t priority = kDefaultPriority;  // the smallest starts first
  std::string cwd = ".";
  // The file it was read from, relative to the root; for a folder queue, the file of this one task.
  std::string file;
  bool queued = false;  // `file` is in a folder queue, holds this task alone, and moves with it

  bool operator==(const Task&) const = default;
};

struct TaskList {
  std::vector<Task> tasks;             // in the order of the sources
  std::vector<std::string> completed;  // ids in the `complete` folder of a folder queue
  std::vector<std::string> warnings;
};

// Reads `sources`, each relative to `root`: a file of tasks (the extension gives its format), a
// folder queue (`tasks`: its `pending` is read), or `notes:proposed_tasks` (the green proposals
// under `notes`). Without sources it reads the existing one of config/tasks.edn, .yaml, .yml and
// .json, and `tasks`. A missing folder is an empty queue.
// Errors: kConfig, "FILE:LINE:COL: task 2 (ID): …": a missing or broken file, an unknown key, a
// value of the wrong type, a task without id or summary, a duplicate id, a dependency cycle, two
// default files. Problems of several tasks are reported together, one per line.
Result<TaskList> LoadTasks(const std::string& root, const std::vector<std::string>& sources,
                           const std::string& notes = "agent_notes");

// Returns "FILE:LINE:COL" of the key in the task's file; of the task if it lacks the key; else the
// file. It reads the file, so use it for errors.
std::string PlaceOfTask(const std::string& root, const Task& task, std::string_view key);

// For a stable sort: compares by priority, then by id as bytes.
bool StartsBefore(const Task& a, const Task& b);

// Reads a priority as written: 3, "P2", " p2 ", "7". If it cannot, it returns kDefaultPriority and
// puts a sentence into `problem`.
std::int64_t ReadPriority(const Json& value, std::string* problem);

// Makes an id usable in file and ref names: characters outside A-Za-z0-9._- become `-`. If any did,
// if the id exceeds 64 bytes, or if a file or ref must not have that name, `-` and 8 hex digits of
// the id's SHA-256 follow.
std::string FileNameOfId(std::string_view id);

// Decides which tasks may start, and in which order.
//
//   DOSSIER_RETURN_IF_ERROR(CheckDependencies(list.tasks, merged, root));
//   for (const std::size_t index : StartOrder(list.tasks)) Show(list.tasks[index]);
//
// Thread-safety: functions over files that are only read.

inline constexpr std::size_t kMaxTaskProblems = 20;  // number that is reported

// Returns kConfig with one line for each of `problems`; success if there are none.
Status TellTaskProblems(std::vector<std::string> problems);

// Checks that no task waits for itself. Errors: kConfig with the cycle, shown as "a -> b -> a".
// `root` is the base of the tasks' files; it is used to find line and column.
Status CheckCycles(std::span<const Task> tasks, const std::string& root);

// Checks that every dependency is the id of a task or is in `merged`. Errors: kConfig, naming all
// unknown ids with the nearest ones.
Status CheckDependencies(std::span<const Task> tasks, const std::set<std::string>& merged,
                         const std::string& root);

// Returns the indexes of all tasks, each after its dependencies; tasks that are ready are ordered
// by StartsBefore. Dependencies must have been checked.
std::vector<std::size_t> StartOrder(std::span<const Task> tasks);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_TASK_H_
