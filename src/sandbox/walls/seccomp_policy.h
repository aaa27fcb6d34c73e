// The system calls that a locked worker and a jailed program may make, as rules for AssembleFilter.
//
//   FilterProgram common = AssembleFilter(CommonRules({.pid = getpid()}), FilterAction::Kill());
//   FilterProgram threads = AssembleFilter(ThreadRules({bridge_fd}), FilterAction::Allow());
//
// Three groups: allowed (some by argument); refused with an errno, so that a probing library goes
// on and code gets a PermissionError; everything else kills. Thread-safety: pure functions.

#ifndef DOSSIER_SANDBOX_WALLS_SECCOMP_POLICY_H_
#define DOSSIER_SANDBOX_WALLS_SECCOMP_POLICY_H_

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/process/build_info.h"
#include "sandbox/walls/seccomp_program.h"

namespace dossier::sandbox {

// The permitted use of openat. Landlock or the mount namespace decides where; without either
// (degraded by name) the filter at least refuses every open that could change something.
enum class FileAccess { kNone, kReadOnly, kReadWrite };

// Python never needs executable memory after the lock; SpiderMonkey's JIT does.
enum class ExecutableMemory { kRefuse, kAllow };

struct PolicyOptions {
  pid_t pid = 0;  // the only process that signals may be sent to
  FileAccess files = FileAccess::kReadWrite;
  ExecutableMemory executable = ExecutableMemory::kRefuse;
  // A sanitizer's runtime queries the processors at the start of every thread.
  Instrumentation instrumentation = kThisBuild;
};

// Flags of clone and unshare that make a namespace, and the mask of a socket's type.
inline constexpr std::uint32_t kNewNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                                CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                                CLONE_NEWNET;
inline constexpr std::uint32_t kSocketTypeMask = 0xf;

// The rules for every thread of the worker. Fallback: Kill.
std::vector<FilterRule> CommonRules(const PolicyOptions& options);

// Additional rules for the interpreter's threads: no call may use one of `private_fds`, pass
// descriptors or install filters. Fallback: Allow.
std::vector<FilterRule> ThreadRules(const std::vector<int>& private_fds);

// The resources that a jailed program may reach by system calls.
struct ProgramPolicy {
  // kAny: IPv4 and IPv6, but not sockets to the kernel or a hypervisor (netlink, vsock, …).
  enum class Network { kNone, kAny } network = Network::kNone;
  // kPairsOnly: used if sockets of the machine's services would be reachable by their paths
  // (without a mount namespace) or abstract names (on a shared network without landlock's scope).
  enum class LocalSockets { kAny, kPairsOnly } local_sockets = LocalSockets::kAny;
  // Shared memory, semaphores and message queues by number or name. kNone: used without an IPC
  // namespace, because they would be the user's.
  enum class Ipc { kAny, kNone } ipc = Ipc::kAny;
  // Without a pid namespace or landlock's scope, signals would reach every process of the user.
  enum class Signals { kAny, kNone } signals = Signals::kAny;
  // kPretended: changes of owners and ids succeed without effect: package managers ask for ids that
  // a user namespace of one id lacks.
  enum class Ids { kReal, kPretended } ids = Ids::kReal;
};

// The rules for programs: compilers, interpreters and their children work; calls that affect other
// processes, the kernel or a terminal get EPERM. Fallback: Allow.
std::vector<FilterRule> ProgramRules(const ProgramPolicy& policy);

// Refuses system calls by which a jailed program could escape the process that watches it.
//
//   std::vector<FilterRule> rules = ProgramRules(policy);
//   AppendWatchRules({.keeper = getppid(), .memfds = WatchPolicy::Memfds::kNone}, rules);
//
// Thread-safety: pure functions.

struct WatchPolicy {
  // Its priority and processors cannot be changed by the program, though both have one user.
  pid_t keeper = 0;
  // Memory in an unmapped descriptor is invisible. kNone: the call fails as on an older kernel
  // without memfds, and programs do without.
  enum class Memfds { kAny, kNone } memfds = Memfds::kAny;
};

void AppendWatchRules(const WatchPolicy& policy, std::vector<FilterRule>& rules);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_SECCOMP_POLICY_H_
