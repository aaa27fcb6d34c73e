// Frees space in the journal's folder: removes whole runs, oldest first, and the bodies and memos
// that no other run needs.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Pruned pruned,
//                            PruneRuns(folder, {.keep = 100}, PruneAction::kRemove, *clock));
//   Say(pruned.runs.size(), pruned.bytes);
//
// Runs that a process works on stay, and so do bodies that a process with an open journal may have
// stored without an event yet. Rows are removed before bodies: if the process is killed, the
// journal still has all its bodies, and the next call does the rest. Errors name the file: kIo,
// kPermission, kDamaged, kLocked. Thread-safety: from many threads and processes.

#ifndef DOSSIER_STORE_PRUNE_H_
#define DOSSIER_STORE_PRUNE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace dossier::store {

// The runs to remove: all rules that are set must hold. None set: only what belongs to no run.
struct PruneRule {
  std::optional<std::size_t> keep;         // keep this many of the newest runs
  std::optional<Millis> older;             // only runs begun longer ago
  std::optional<std::uint64_t> max_bytes;  // while the folder holds more; never the newest run
};

enum class PruneAction { kLook, kRemove };

struct Pruned {
  std::vector<std::string> runs;  // oldest first
  std::size_t bodies = 0;
  std::uint64_t bytes = 0;  // size of bodies and events
  std::size_t runs_left = 0;
  std::uint64_t bytes_left = 0;
};

// Does nothing in a folder without a journal.
Result<Pruned> PruneRuns(const std::string& folder, const PruneRule& rule, PruneAction action,
                         const Clock& clock);

// Returns the bytes of all files below `path` (or of the file), without following links; 0 if there
// is none. Files that appear or vanish meanwhile are no error.
std::uint64_t BytesBelow(const std::string& path);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_PRUNE_H_
