// The folder queue: a task's file moves, by rename, as its work goes on.
//
//   MoveTask(root, task.file, Queue::kCurrent)      // tasks/pending/a.json -> tasks/current/a.json
//
// Only files that lie in a folder `pending`, `current` or `complete` are moved; a list of tasks
// stays. Thread-safety: functions over files.

#ifndef DOSSIER_AGENTS_RUN_TASK_QUEUE_H_
#define DOSSIER_AGENTS_RUN_TASK_QUEUE_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::agents {

enum class Queue { kPending, kCurrent, kComplete };

// The path of `file` in `queue`; unset if it is not part of a folder queue.
std::optional<std::string> PathInQueue(std::string_view file, Queue queue);

// `file`: where the task was read from, relative to `root`; it is found in whichever of the folders
// it is. An existing file is not replaced. Errors: kIo, naming both paths.
Status MoveTask(const std::string& root, std::string_view file, Queue queue);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_TASK_QUEUE_H_
