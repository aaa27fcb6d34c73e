// Which system calls a locked worker and a program in a jail may make, as rules for AssembleFilter.
//
//   FilterProgram common = AssembleFilter(CommonRules({.pid = getpid()}), FilterAction::Kill());
//   FilterProgram threads = AssembleFilter(ThreadRules({bridge_fd}), FilterAction::Allow());
//
// Three groups: allowed (some by argument); refused with an errno, so that a library that merely
// asks goes on and code gets a PermissionError; all else kills. Thread-safety: pure functions.

#ifndef DOSSIER_SANDBOX_WALLS_SECCOMP_POLICY_H_
#define DOSSIER_SANDBOX_WALLS_SECCOMP_POLICY_H_

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/process/build_info.h"
#include "sandbox/walls/seccomp_program.h"

namespace dossier::sandbox {

// What openat may do. Landlock or the mount namespace decides where; with neither (degraded, by
// name) the filter at least refuses every open that could change something.
enum class FileAccess { kNone, kReadOnly, kReadWrite };

// Python never needs executable memory after the lock; SpiderMonkey's JIT does.
enum class ExecutableMemory { kRefuse, kAllow };

struct PolicyOptions {
  pid_t pid = 0;  // signals go only here
  FileAccess files = FileAccess::kReadWrite;
  ExecutableMemory executable = ExecutableMemory::kRefuse;
  // A sanitizer's runtime asks for the processors at the start of every thread.
  Instrumentation instrumentation = kThisBuild;
};

// Flags of clone and unshare that make a namespace, and the bits of a socket's type that name it.
inline constexpr std::uint32_t kNewNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                                CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                                CLONE_NEWNET;
inline constexpr std::uint32_t kSocketTypeMask = 0xf;

// For every thread of the worker. Fallback: Kill.
std::vector<FilterRule> CommonRules(const PolicyOptions& options);

// For the interpreter's threads on top: nothing may name one of `private_fds`, pass descriptors or
// install filters. Fallback: Allow.
std::vector<FilterRule> ThreadRules(const std::vector<int>& private_fds);

// What a program in a jail may reach by system calls.
struct ProgramPolicy {
  // kAny: IPv4 and IPv6, not what speaks to the kernel or to the machine below (netlink, vsock, …).
  enum class Network { kNone, kAny } network = Network::kNone;
  // kPairsOnly: where the sockets of the machine's services can be reached, by their paths (without
  // a mount namespace) or by their abstract names (on a shared network, without landlock's scope).
  enum class LocalSockets { kAny, kPairsOnly } local_sockets = LocalSockets::kAny;
  // Shared memory, semaphores and message queues by number or name. kNone: without an IPC
  // namespace, where they would be those of the user.
  enum class Ipc { kAny, kNone } ipc = Ipc::kAny;
  // Without a pid namespace or landlock's scope, signals reach every process of the user.
  enum class Signals { kAny, kNone } signals = Signals::kAny;
  // Changes of owners and ids succeed and do nothing: package managers ask for ids that a user
  // namespace of one id does not have.
  enum class Ids { kReal, kPretended } ids = Ids::kReal;
};

// For programs: compilers, interpreters and their children work, what reaches into other processes,
// the kernel or a terminal gets EPERM. Fallback: Allow.
std::vector<FilterRule> ProgramRules(const ProgramPolicy& policy);

// System calls by which a program in a jail could get away from the process that watches it.
//
//   std::vector<FilterRule> rules = ProgramRules(policy);
//   AppendWatchRules({.keeper = getppid(), .memfds = WatchPolicy::Memfds::kNone}, rules);
//
// Thread-safety: pure functions.

struct WatchPolicy {
  // Whose priority and processors the program cannot change, though both have one user.
  pid_t keeper = 0;
  // Memory in a descriptor that is not mapped shows nowhere. kNone: the kernel says that it has
  // none, as an older one does, and programs go on without.
  enum class Memfds { kAny, kNone } memfds = Memfds::kAny;
};

void AppendWatchRules(const WatchPolicy& policy, std::vector<FilterRule>& rules);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_SECCOMP_POLICY_H_
