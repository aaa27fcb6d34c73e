// Functions shared by the `process` layer and the limits of every isolated process.
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

// The privileges of a process: its identity, capabilities, and the flags that keep it from gaining
// more.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string who, LeaveRoot());   // "uid 65534"
//   DOSSIER_RETURN_IF_ERROR(DropAllCapabilities());
//   DOSSIER_RETURN_IF_ERROR(SetFlags());
//
// Thread-safety: all functions change the calling process or thread.

// The ids that a worker of root gets: the kernel's overflow ids, which own nothing.
inline constexpr uid_t kUnprivilegedUid = 65534;
inline constexpr gid_t kUnprivilegedGid = 65534;

// The ids that a process of root gets.
struct UserIds {
  uid_t uid = kUnprivilegedUid;
  gid_t gid = kUnprivilegedGid;
};

// If the process is root: sets `ids` and removes supplementary groups. Root of a user namespace
// without that id is already unprivileged and stays. With uid 0 the process keeps the name root;
// DropAllCapabilities then removes its privileges. Returns the resulting identity for the report.
// Errors: kUnavailable.
Result<std::string> LeaveRoot(UserIds ids = {});

// Clears the permitted, effective, inheritable, ambient and bounding set of the calling thread.
Status DropAllCapabilities();

// Sets no_new_privs, SIGKILL on the parent's end, and not dumpable. Call it after a change of ids,
// which resets the parent's signal.
Status SetFlags();

// Sets the resource limits of a session (layer `rlimits`).
//
//   DOSSIER_RETURN_IF_ERROR(SetResourceLimits({.data = 1u << 30, .cpu_seconds = 3600}));
//
// Sets soft and hard limits to the same value, never above the current ones, so nothing can be
// raised again. Thread-safety: changes the calling process.

struct ResourceLimits {
  std::optional<std::uint64_t> data;  // bytes of writable private memory
  std::uint64_t cpu_seconds = 0;      // of the process, all threads
  std::uint64_t file_size = 0;        // bytes; largest file that may be written
  std::uint64_t files = 64;           // highest descriptor + 1
  std::uint64_t stack = 64ull << 20;  // bytes, main thread
  // Threads of this user; set only in its own user namespace, because otherwise the user's other
  // processes count too.
  std::optional<std::uint64_t> threads;
};

// Errors: kUnavailable naming the limit.
Status SetResourceLimits(const ResourceLimits& limits);
// Sets only `data`: for a child that has its parent's memory until it executes a program.
Status SetDataLimit(std::uint64_t bytes);

// Closes all but 0, 1, 2 and `keep`, where negative numbers are ignored. Errors: kIo.
Status CloseOtherDescriptors(std::vector<int> keep);

// Returns true if the caller is in the machine's initial user namespace.
bool InInitialUserNamespace();

// Returns true if a process limit (RLIMIT_NPROC) is enforced for the caller. The kernel exempts the
// machine's root, even if a user namespace maps it to another id, so this tries it: it forks with a
// limit of zero. Thread-safety: forks; the old limit is restored on return.
bool ProcessLimitHolds();

// For a process that watches many, possibly busy ones: sets real-time priority, else the highest
// ordinary one, if the caller may. Children inherit it until KeepPriority.
void RaisePriority();
// Gives ordinary priority to processes that the caller forks from now on.
void KeepPriority();
// Gives the calling process ordinary priority.
void LowerPriority();

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_PROCESS_LAYER_H_
