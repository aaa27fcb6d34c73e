// Resource limits of a session (layer `rlimits`).
//
//   DOSSIER_RETURN_IF_ERROR(SetResourceLimits({.data = 1u << 30, .cpu_seconds = 3600}));
//
// Soft and hard limits are set alike, never above what the process already has, so nothing can be
// raised again. Thread-safety: changes the calling process.

#ifndef DOSSIER_SANDBOX_WALLS_RLIMITS_H_
#define DOSSIER_SANDBOX_WALLS_RLIMITS_H_

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace dossier::sandbox {

struct ResourceLimits {
  std::uint64_t data = 0;             // bytes of writable private memory
  std::uint64_t cpu_seconds = 0;      // of the process, all threads
  std::uint64_t file_size = 0;        // bytes; what may be written to a file
  std::uint64_t files = 64;           // highest descriptor + 1
  std::uint64_t stack = 64ull << 20;  // bytes, main thread
  // Threads of this user; set only in a user namespace of its own, else the user's other processes
  // count too.
  std::optional<std::uint64_t> threads;
};

// Errors: kUnavailable naming the limit.
Status SetResourceLimits(const ResourceLimits& limits);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_RLIMITS_H_
