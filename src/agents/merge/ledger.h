// The ledger: one line per merge, for people.
//
//   const std::string line = LedgerLine({.time = now, .task = "task-217", .patch_sha256 = hash});
//   DOSSIER_RETURN_IF_ERROR(AppendLedger(LedgerFile(root, state), line));
//
// Thread-safety: functions over files; concurrent appends by several processes do not mix.

#ifndef DOSSIER_AGENTS_MERGE_LEDGER_H_
#define DOSSIER_AGENTS_MERGE_LEDGER_H_

#include <optional>
#include <string>
#include <string_view>

#include "agents/git/state_folder.h"
#include "base/clock.h"
#include "base/result.h"

namespace dossier::agents {

struct LedgerEntry {
  Clock::Wall time;
  std::string task;  // the id, unchanged
  std::string note;  // "ready_for_review/….md"; empty: none
  std::string patch_sha256;
};

// Returns "- 2025-10-29 13:43Z | APPROVED | task-217 | ready_for_review/… | patch_sha256=…",
// without a line break. In ids `|` becomes %7C, a line break %0A or %0D: a line has five parts.
std::string LedgerLine(const LedgerEntry& entry);

// Returns ROOT/finished_to_review.md if ROOT/agent_notes/ exists, else that file in STATE. `root`
// may be empty.
std::string LedgerFile(const std::string& root, const StateFolder& state);

// Returns the hash of the patch last merged for `task` according to the ledger; nothing if it has
// no line. Lines of another form are skipped.
std::optional<std::string> LedgerPatch(const std::string& file, std::string_view task);

// Appends `line` unless it exists already: a merge that is finished after a crash may have got this
// far. A partial line at the end of the file, left by a crash, is completed. Synced to disk.
Status AppendLedger(const std::string& file, const std::string& line);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_MERGE_LEDGER_H_
