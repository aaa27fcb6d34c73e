// The folder queue: moves a task's file, by rename, as its work progresses.
//
//   MoveTask(root, task.file, Queue::kCurrent)      // tasks/pending/a.json -> tasks/current/a.json
//
// Only files in a folder `pending`, `current` or `complete` are moved; a list of tasks is not.
// Thread-safety: functions over files.

#ifndef DOSSIER_AGENTS_RUN_TASK_QUEUE_H_
#define DOSSIER_AGENTS_RUN_TASK_QUEUE_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::agents {

enum class Queue { kPending, kCurrent, kComplete };

// Returns the path of `file` in `queue`; unset if it is not part of a folder queue.
std::optional<std::string> PathInQueue(std::string_view file, Queue queue);

// `file`: the path, relative to `root`, at which the task's file was last; if it is not there, it
// is looked for in the other folders. Returns the path at which it is now. An existing file is not
// replaced: the moved one gets a number ("a-2.json"). Errors: kIo, naming both paths.
Result<std::string> MoveTask(const std::string& root, std::string_view file, Queue queue);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_TASK_QUEUE_H_
