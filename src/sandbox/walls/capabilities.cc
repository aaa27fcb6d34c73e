#include "sandbox/walls/capabilities.h"

#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/files/file.h"

namespace dossier::sandbox {
namespace {

// The initial user namespace maps every id to itself.
bool InInitialUserNamespace() {
  const auto map = ReadFile("/proc/self/uid_map", 4096);
  return !map || map->find("4294967295") != std::string::npos;
}

}  // namespace

Result<std::string> LeaveRoot(UserIds ids) {
  if (geteuid() != 0 && getuid() != 0) return fmt::format("uid {}", getuid());
  if (setgroups(0, nullptr) != 0 || setresgid(ids.gid, ids.gid, ids.gid) != 0 ||
      setresuid(ids.uid, ids.uid, ids.uid) != 0) {
    const int reason = errno;
    if (!InInitialUserNamespace()) return std::string("uid 0 of a user namespace");
    return MakeErrnoError(reason, "leaving root");
  }
  // Changing ids made /proc/self root's, and the id maps are written there.
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  return fmt::format("uid {}", ids.uid);
}

Status DropAllCapabilities() {
  // Ambient and bounding sets first: the latter needs CAP_SETPCAP, where there is any.
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // Ends behind the last one that the kernel knows; at once where none may be dropped.
  for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0;) ++capability;
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (syscall(__NR_capset, &header, none) != 0) return MakeErrnoError(errno, "capset");
  return {};
}

Status SetFlags() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return MakeErrnoError(errno, "no_new_privs");
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return MakeErrnoError(errno, "pdeathsig");
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return MakeErrnoError(errno, "dumpable");
  return {};
}

}  // namespace dossier::sandbox
