// Writes the note that a refused task leaves for the person who decides, and puts a red mark on the
// note that proposed the work.
//
//   WriteRefusal(root, "agent_notes", {.task = &task, .reviewer = "local", .status = …}, clock)
//
// Thread-safety: functions over files.

#ifndef DOSSIER_AGENTS_TASK_REFUSAL_NOTE_H_
#define DOSSIER_AGENTS_TASK_REFUSAL_NOTE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sources/header/task.h"

namespace dossier::agents {

struct RefusedTask {
  const sources::Task* task = nullptr;
  std::string reviewer;  // the engine's name
  std::string status, reason;
  std::string feedback;  // from the last attempt
  std::string run;
};

// Writes FOLDER/notes_FROM_CTO/<date>__<reviewer>__review-<id>.md and marks the ready notes of that
// id red; returns the paths of both, relative to `root`. Nothing if ROOT/FOLDER is missing.
// Errors: kIo, kPermission with the path.
Result<std::vector<std::string>> WriteRefusal(const std::string& root, const std::string& folder,
                                              const RefusedTask& refusal, Clock::Wall now);

// Returns the ready note of a task, relative to the root, for the ledger. Empty if there is none.
std::string ReadyNote(const std::string& root, const std::string& folder, std::string_view id);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_REFUSAL_NOTE_H_
