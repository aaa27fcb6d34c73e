// Limits the bytes that a node may write, in any backend: its workspace and what it installs
// outside it.
//
//   factory = WithDiskLimit(std::move(factory), {.bytes = 16ull << 30});   // exec.disk
//
// While a command runs, its folders are measured repeatedly, using at most a tenth of the time. At
// the limit, or when the disk itself is nearly full, the command and all its processes are ended,
// and its result says why. The folders are measured once more at the end, so that a fast command
// does not escape. Files that processes deleted but keep open count too, except on other machines
// (jobs of Slurm) and where the workspace is not at its mount (no namespaces). Between two
// measurements a program may exceed the limit; at worst it uses up the disk's reserve.
//
// Thread-safety: as ExecBackend; each command has a measuring thread.

#ifndef DOSSIER_RESEARCH_EXEC_DISK_LIMIT_H_
#define DOSSIER_RESEARCH_EXEC_DISK_LIMIT_H_

#include <cstdint>
#include <string>

#include "research/exec/exec_backend.h"

namespace dossier::research {

struct DiskLimit {
  std::uint64_t bytes = 16ull << 30;  // disk space of all files together
  // Bytes that stay free on the disk of the workspace; 4,096 files stay free too, unless this is 0.
  std::uint64_t reserve = 256ull << 20;
};

BackendFactory WithDiskLimit(BackendFactory inner, DiskLimit limit);

// Disk space used by the files below a folder; 0 if it does not exist. Links are not followed, a
// file with several names counts once, and an empty file counts as 4 KiB, so that a byte limit also
// limits the number of files. kSome: a folder that its user made unreadable, or that is nested
// deeper than a path can express, was not counted.
struct DiskUse {
  std::uint64_t bytes = 0;
  enum class Seen { kAll, kSome } seen = Seen::kAll;
};
DiskUse DiskUseOf(const std::string& folder);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_DISK_LIMIT_H_
