#include "sandbox/walls/process_layer.h"

#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files/file.h"
#include "base/process/build_info.h"

namespace dossier::sandbox {
namespace {

Status SetLimit(__rlimit_resource resource, const char* name, std::uint64_t value) {
  rlimit current;
  if (getrlimit(resource, &current) != 0) return MakeErrnoError(errno, name);
  const rlim_t wanted = std::min<rlim_t>(value, current.rlim_max);
  const rlimit both = {wanted, wanted};
  if (setrlimit(resource, &both) != 0) return MakeErrnoError(errno, name);
  return {};
}

}  // namespace

// The initial namespace maps every id to itself.
bool InInitialUserNamespace() {
  const auto map = ReadFile("/proc/self/uid_map", 4096);
  return !map || map->find("4294967295") != std::string::npos;
}

Result<std::string> LeaveRoot(UserIds ids) {
  if (geteuid() != 0 && getuid() != 0) return fmt::format("uid {}", getuid());
  if (setgroups(0, nullptr) != 0 || setresgid(ids.gid, ids.gid, ids.gid) != 0 ||
      setresuid(ids.uid, ids.uid, ids.uid) != 0) {
    const int reason = errno;
    if (!InInitialUserNamespace()) return std::string("uid 0 of a user namespace");
    return MakeErrnoError(reason, "leaving root");
  }
  // The change of ids made /proc/self root's, and the id maps are written there.
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  return fmt::format("uid {}", ids.uid);
}

Status DropAllCapabilities() {
  // Ambient and bounding sets first: the latter needs CAP_SETPCAP, if the process has any.
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // Ends after the last capability that the kernel knows; at once if none may be dropped.
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

Status SetDataLimit(std::uint64_t bytes) {
  // The shadow memory of a sanitizer counts as data and exceeds any limit.
  if (kThisBuild == Instrumentation::kSanitizer) return {};
  return SetLimit(RLIMIT_DATA, "DATA", bytes);
}

Status SetResourceLimits(const ResourceLimits& limits) {
  // A write above the file limit is then an error (EFBIG) instead of a fatal signal.
  signal(SIGXFSZ, SIG_IGN);
  const struct {
    __rlimit_resource resource;
    const char* name;
    std::uint64_t value;
  } table[] = {
      {RLIMIT_CPU, "CPU", limits.cpu_seconds},
      {RLIMIT_FSIZE, "FSIZE", limits.file_size},
      {RLIMIT_NOFILE, "NOFILE", limits.files},
      {RLIMIT_STACK, "STACK", limits.stack},
      {RLIMIT_CORE, "CORE", 0},
      {RLIMIT_MEMLOCK, "MEMLOCK", 0},
      {RLIMIT_MSGQUEUE, "MSGQUEUE", 0},
  };
  for (const auto& entry : table) {
    DOSSIER_RETURN_IF_ERROR(SetLimit(entry.resource, entry.name, entry.value));
  }
  if (limits.data) DOSSIER_RETURN_IF_ERROR(SetDataLimit(*limits.data));
  if (limits.threads) DOSSIER_RETURN_IF_ERROR(SetLimit(RLIMIT_NPROC, "NPROC", *limits.threads));
  return {};
}

Status CloseOtherDescriptors(std::vector<int> keep) {
  keep.insert(keep.end(), {0, 1, 2});
  std::erase_if(keep, [](int fd) { return fd < 0; });
  std::sort(keep.begin(), keep.end());
  unsigned next = 0;
  for (int fd : keep) {
    const auto kept = static_cast<unsigned>(fd);
    if (kept > next && close_range(next, kept - 1, 0) != 0) return MakeErrnoError(errno, "close");
    next = std::max(next, kept + 1);
  }
  if (close_range(next, ~0u, 0) != 0) return MakeErrnoError(errno, "close");
  return {};
}

bool ProcessLimitHolds() {
  rlimit before;
  if (getrlimit(RLIMIT_NPROC, &before) != 0) return false;
  const rlimit none = {0, before.rlim_max};
  if (setrlimit(RLIMIT_NPROC, &none) != 0) return false;
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  const bool refused = pid < 0 && errno == EAGAIN;
  while (pid > 0 && waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  return setrlimit(RLIMIT_NPROC, &before) == 0 && refused;
}

void RaisePriority() {
  const sched_param first = {.sched_priority = 1};
  constexpr int kHighest = -20;
  if (sched_setscheduler(0, SCHED_FIFO, &first) != 0) setpriority(PRIO_PROCESS, 0, kHighest);
}

void KeepPriority() {
  sched_param now;
  if (sched_getparam(0, &now) != 0) return;
  sched_setscheduler(0, sched_getscheduler(0) | SCHED_RESET_ON_FORK, &now);
}

void LowerPriority() {
  const sched_param none = {.sched_priority = 0};
  sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none);
  setpriority(PRIO_PROCESS, 0, 0);
}

}  // namespace dossier::sandbox
