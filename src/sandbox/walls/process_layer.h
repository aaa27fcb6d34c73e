// What the `process` layer and the limits of every isolated process have in common.
//
//   DOSSIER_RETURN_IF_ERROR(CloseOtherDescriptors({bridge_fd}));
//
// Thread-safety: CloseOtherDescriptors changes the calling process.

#ifndef DOSSIER_SANDBOX_WALLS_PROCESS_LAYER_H_
#define DOSSIER_SANDBOX_WALLS_PROCESS_LAYER_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace dossier::sandbox {

// What a process may do by right: identity, capabilities, and the flags that keep it from getting
// more.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string who, LeaveRoot());   // "uid 65534"
//   DOSSIER_RETURN_IF_ERROR(DropAllCapabilities());
//   DOSSIER_RETURN_IF_ERROR(SetFlags());
//
// Thread-safety: all change the calling process or thread.

// Who a worker of root becomes: the kernel's overflow ids, which own nothing.
inline constexpr uid_t kUnprivilegedUid = 65534;
inline constexpr gid_t kUnprivilegedGid = 65534;

// Who a process of root becomes.
struct UserIds {
  uid_t uid = kUnprivilegedUid;
  gid_t gid = kUnprivilegedGid;
};

// If the process is root: becomes `ids` without supplementary groups. Root of a user namespace that
// has no such id is unprivileged already and stays. With uid 0 the process keeps the name of root;
// DropAllCapabilities then takes what comes with it. Returns who it is now, for the report.
// Errors: kUnavailable.
Result<std::string> LeaveRoot(UserIds ids = {});

// Permitted, effective, inheritable, ambient and bounding set of the calling thread, to nothing.
Status DropAllCapabilities();

// no_new_privs, SIGKILL when the parent ends, not dumpable. The parent's signal is lost when the
// process changes its ids, so this comes after.
Status SetFlags();

// Resource limits of a session (layer `rlimits`).
//
//   DOSSIER_RETURN_IF_ERROR(SetResourceLimits({.data = 1u << 30, .cpu_seconds = 3600}));
//
// Soft and hard limits are set alike, never above what the process already has, so nothing can be
// raised again. Thread-safety: changes the calling process.

struct ResourceLimits {
  std::optional<std::uint64_t> data;  // bytes of writable private memory
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
// Of these, `data` alone: for a child that has the memory of its parent until it executes a
// program.
Status SetDataLimit(std::uint64_t bytes);

// Closes everything but 0, 1, 2 and `keep`; negative numbers in it are ignored. Errors: kIo.
Status CloseOtherDescriptors(std::vector<int> keep);

// Whether ids are those of the machine: the caller's user namespace is the first one.
bool InInitialUserNamespace();

// Whether a limit of processes (RLIMIT_NPROC) binds the caller. The kernel makes an exception for
// the machine's root, also where a user namespace gave it another name, so this tries: it forks
// with a limit of none. Thread-safety: forks; the limit is back when it returns.
bool ProcessLimitHolds();

// For a process that watches over others, which may be many and busy: real-time priority, else the
// highest ordinary one, where the caller may. It passes to children until KeepPriority.
void RaisePriority();
// What the calling process forks from now on has ordinary priority.
void KeepPriority();
// The calling process gets ordinary priority itself.
void LowerPriority();

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_PROCESS_LAYER_H_
