// Gives up privileges: user ids, capabilities, and the flags that keep a process from gaining more.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string who, LeaveRoot());   // "uid 65534"
//   DOSSIER_RETURN_IF_ERROR(DropAllCapabilities());
//   DOSSIER_RETURN_IF_ERROR(SetFlags());
//
// Thread-safety: all change the calling process or thread.

#ifndef DOSSIER_SANDBOX_WALLS_CAPABILITIES_H_
#define DOSSIER_SANDBOX_WALLS_CAPABILITIES_H_

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace dossier::sandbox {

// The ids that a worker started by root switches to: the kernel's overflow ids, which own no files.
inline constexpr uid_t kUnprivilegedUid = 65534;
inline constexpr gid_t kUnprivilegedGid = 65534;

// The ids that a process started by root switches to.
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

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_CAPABILITIES_H_
