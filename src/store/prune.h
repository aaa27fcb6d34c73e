// Makes room in the folder of the journal: whole runs go, the oldest first, and with them the
// bodies and memos that no other run needs.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Pruned pruned,
//                            PruneRuns(folder, {.keep = 100}, PruneAction::kRemove, *clock));
//   Say(pruned.runs.size(), pruned.bytes);
//
// Runs that a process works on stay, and so does what one that has the journal open may have stored
// without an event about it yet. Rows go before bodies: a process killed at any point leaves a
// journal whose bodies are all there, and the rest to the next call. Errors name the file: kIo,
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

// What may go. Of several that are set, all must hold; without any, only what belongs to no run.
struct PruneRule {
  std::optional<std::size_t> keep;         // not the newest so many
  std::optional<Millis> older;             // begun longer ago
  std::optional<std::uint64_t> max_bytes;  // as long as the folder holds more; never the newest run
};

enum class PruneAction { kLook, kRemove };

struct Pruned {
  std::vector<std::string> runs;  // oldest first
  std::size_t bodies = 0;
  std::uint64_t bytes = 0;  // of bodies and events
  std::size_t runs_left = 0;
  std::uint64_t bytes_left = 0;
};

// A folder without a journal is none to prune: nothing happens.
Result<Pruned> PruneRuns(const std::string& folder, const PruneRule& rule, PruneAction action,
                         const Clock& clock);

// Bytes of all files below `path` (its own if it is a file), without following links; 0 if there is
// none. Files that come and go meanwhile are no error.
std::uint64_t BytesBelow(const std::string& path);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_PRUNE_H_
