// What the two halves of RunJailed share. The host (jail.cc) makes the plan and reads the reports;
// the forked side (jail_inside.cc, jail_keeper.cc) builds the walls and runs the program.
//
// Processes: host -> keeper -> program. With namespaces the keeper is the first process of its own
// pid namespace, behind a parent that only waits for it; else it is a subreaper. Either way every
// descendant of the program that loses its parent becomes the keeper's.
//
// Thread-safety: a plan is constant once it is made; each process has its own copy.

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
  std::string folder;               // where the program starts
  UserIds ids;                      // who root becomes
  int cgroup = -1;                  // the entrance of the jail's own; -1: there is none
  std::string cgroup_reason;        // why there is none
  ControlFiles control_files;       // in what the program may write
  int in = -1, out = -1, err = -1;  // all above 2
  int report = -1;                  // close-on-exec: lines of JSON, until the program runs
  int control = -1;                 // a socket: JailOrder to the keeper, KeeperReport from it
};

// One byte. The end of the socket means kKill.
enum class JailOrder : char { kEnd = 'T', kKill = 'K' };

// Sent once, when every process but the keeper is gone.
struct KeeperReport {
  int wait_status = 0;  // of the program
  JailStop stop = JailStop::kNothing;
  std::int64_t cpu_ms = 0;
  std::uint64_t peak_bytes = 0;
  int set_aside = 0;               // control files
  char first_set_aside[512] = {};  // the line of the first one, cut
};

// The host's child after fork: never returns.
[[noreturn]] void RunInside(const JailPlan& plan);

// As the keeper, once its walls stand: starts the program by `start` in a child (which never
// returns), waits, keeps the limits, ends what is left, reports. `proc` shows the keeper's
// descendants; invalid: limits over all processes are not kept.
struct KeeperSpec {
  JailLimits limits;
  int control = -1;
  int proc = -1;
  enum class Tree { kPidNamespace, kSubreaper } tree = Tree::kPidNamespace;
  // Whether the kernel refuses a process too many, or nothing does but the keeper's count.
  enum class Processes { kBoundByKernel, kCounted } processes = Processes::kBoundByKernel;
  // kByCgroup: the kernel counts the memory of all.
  enum class Memory { kByCgroup, kCounted } memory = Memory::kCounted;
  // Memory of the jail that no process has mapped.
  std::function<std::uint64_t()> other_memory = [] { return std::uint64_t{0}; };
  std::function<void()> look = [] {};  // called whenever the processes are looked at
  int report = -1;  // closed by the keeper with its 0, 1 and 2 once the program has them
};
KeeperReport KeepProgram(const KeeperSpec& spec, const std::function<void()>& start);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_JAIL_JAIL_PLAN_H_
