// Limits the bytes that a node may write, in any backend: its workspace, and what it installs
// beside it.
//
//   factory = WithDiskLimit(std::move(factory), {.bytes = 16ull << 30});   // exec.disk
//
// While a command runs its folders are measured again and again, in a tenth of the time at most; at
// the limit, or when the disk itself is nearly full, the command is ended with all its processes,
// and its result says why. They are measured once more at its end, so that a fast command does not
// slip through. Between two looks a program may write more than the limit; what is full then is the
// disk's reserve at worst.
//
// Thread-safety: as ExecBackend; each command has a thread that measures.

#ifndef DOSSIER_RESEARCH_EXEC_DISK_LIMIT_H_
#define DOSSIER_RESEARCH_EXEC_DISK_LIMIT_H_

#include <cstdint>
#include <string>

#include "research/exec/exec_backend.h"

namespace dossier::research {

struct DiskLimit {
  std::uint64_t bytes = 16ull << 30;  // of all files together, as they lie on the disk
  // That stay free on the disk of the workspace; so do 4,096 files, unless this is 0.
  std::uint64_t reserve = 256ull << 20;
};

BackendFactory WithDiskLimit(BackendFactory inner, DiskLimit limit);

// What the files below a folder take on their disk; 0 if it is not there. No link is followed, a
// file of several names counts once, and an empty one for 4 KiB: so a limit of bytes is one of
// their number, too. kSome: below a folder that its user closed or that is nested deeper than a
// path can say, nothing was counted.
struct DiskUse {
  std::uint64_t bytes = 0;
  enum class Seen { kAll, kSome } seen = Seen::kAll;
};
DiskUse DiskUseOf(const std::string& folder);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_DISK_LIMIT_H_
