// Which process holds a lock that could not be obtained, as the kernel's list of locks says.
//
//   FindLockHolder("memory.sqlite")   // 4711; none if it is free by now or the kernel does not say
//
// Thread-safety: pure functions over files.

#ifndef DOSSIER_MEMORY_RECORDS_LOCK_HOLDER_H_
#define DOSSIER_MEMORY_RECORDS_LOCK_HOLDER_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dossier::memory {

struct LockedRange {
  std::uint64_t inode = 0;
  std::uint64_t first = 0, last = 0;  // bytes of the file
};

// The process that `locks`, the text of /proc/locks, gives a write lock over any byte of `range`.
std::optional<pid_t> FindHolder(std::string_view locks, const LockedRange& range);

// Of the writers' lock of the SQLite database at `path`.
std::optional<pid_t> FindLockHolder(const std::string& path);

std::string HostName();

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RECORDS_LOCK_HOLDER_H_
