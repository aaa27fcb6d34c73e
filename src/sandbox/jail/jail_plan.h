// Shared by the two halves of RunJailed. The host (jail.cc) makes the plan and reads the reports;
// the forked side (jail_inside.cc, jail_keeper.cc) builds the walls and runs the program.
//
// Processes: host -> keeper -> program. With namespaces the keeper is the first process of its own
// pid namespace, below a parent that only waits for it; otherwise it is a subreaper. Either way,
// descendants of the program that lose their parent become the keeper's children.
//
// Thread-safety: a plan does not change once it is made; each process has its own copy.

#ifndef DOSSIER_SANDBOX_JAIL_JAIL_PLAN_H_
#define DOSSIER_SANDBOX_JAIL_JAIL_PLAN_H_

#include <functional>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "sandbox/jail/control_files.h"
#include "sandbox/jail/jail.h"
#include "sandbox/walls/namespaces.h"
#include "sandbox/walls/process_layer.h"

namespace dossier::sandbox {

inline constexpr int kOwnProcesses = 2;  // the keeper and its parent

// Everything is opened and computed before the fork.
struct JailPlan {
  const JailSpec* spec = nullptr;
  std::vector<std::string> argv;
  std::vector<std::string> system;  // folders
  std::string folder;               // the program's working folder
  UserIds ids;                      // the ids that root changes to
  int cgroup = -1;                  // entrance of the jail's own cgroup; -1: none
  std::string cgroup_reason;        // why there is none
  ControlFiles control_files;       // those in writable folders
  int in = -1, out = -1, err = -1;  // all above 2
  int report = -1;                  // close-on-exec: JSON lines, until the program runs
  int control = -1;                 // a socket: JailOrder to the keeper, KeeperReport from it
};

// One byte. End of file on the socket means kKill.
enum class JailOrder : char { kEnd = 'T', kKill = 'K' };

// Sent once, when only the keeper is left.
struct KeeperReport {
  int wait_status = 0;  // of the program
  JailStop stop = JailStop::kNothing;
  std::int64_t cpu_ms = 0;
  std::uint64_t peak_bytes = 0;
  int set_aside = 0;               // control files
  char first_set_aside[512] = {};  // the line of the first one, truncated
};

// The host's child after fork: never returns.
[[noreturn]] void RunInside(const JailPlan& plan);

// The keeper's work after its walls are closed: starts the program by `start` in a child (which
// never returns), waits, enforces the limits, ends what is left, reports. `proc` shows the keeper's
// descendants; if it is invalid, limits over all processes are not enforced.
struct KeeperSpec {
  JailLimits limits;
  int control = -1;
  int proc = -1;
  enum class Tree { kPidNamespace, kSubreaper } tree = Tree::kPidNamespace;
  // kBoundByKernel: the kernel refuses processes above the limit; kCounted: only the keeper counts.
  enum class Processes { kBoundByKernel, kCounted } processes = Processes::kBoundByKernel;
  // kByCgroup: the kernel counts the memory of all processes.
  enum class Memory { kByCgroup, kCounted } memory = Memory::kCounted;
  // Memory of the jail that no process has mapped.
  std::function<std::uint64_t()> other_memory = [] { return std::uint64_t{0}; };
  std::function<void()> look = [] {};  // called each time the processes are checked
  int report = -1;  // the keeper closes it and 0, 1 and 2 once the program has them
};
KeeperReport KeepProgram(const KeeperSpec& spec, const std::function<void()>& start);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_JAIL_JAIL_PLAN_H_
