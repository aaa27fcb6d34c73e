// The ledger: one line for each merge, for people.
//
//   const std::string line = LedgerLine({.time = now, .task = "task-217", .patch_sha256 = hash});
//   DOSSIER_RETURN_IF_ERROR(AppendLedger(LedgerFile(root, state), line));
//
// Thread-safety: functions over files; appends of several processes do not mix.

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
  std::string task;  // the id, as it is
  std::string note;  // "ready_for_review/….md"; empty: none
  std::string patch_sha256;
};

// "- 2025-10-29 13:43Z | APPROVED | task-217 | ready_for_review/… | patch_sha256=…", without a line
// break. In an id `|` is %7C and a line break %0A or %0D, so that a line has its five parts.
std::string LedgerLine(const LedgerEntry& entry);

// ROOT/finished_to_review.md if ROOT/agent_notes/ exists, else that file in STATE. `root` may be
// empty.
std::string LedgerFile(const std::string& root, const StateFolder& state);

// The hash of the patch that was merged last for `task`, by the ledger; nothing if it has no line
// of it. What is no line of a ledger is passed over.
std::optional<std::string> LedgerPatch(const std::string& file, std::string_view task);

// Appends `line` unless it is there already: a merge that is finished after a crash may have got
// this far. The beginning of it at the end of the file, torn by a crash, is completed. Synced.
Status AppendLedger(const std::string& file, const std::string& line);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_MERGE_LEDGER_H_
