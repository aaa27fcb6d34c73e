// The parts of starting a process that several callers share: the plan of a child, attributes for
// posix_spawn, signals to one process, and hiding this process's memory and environment. To run a
// program, use process.h or supervised_process.h.

#ifndef DOSSIER_BASE_PROCESS_CHILD_H_
#define DOSSIER_BASE_PROCESS_CHILD_H_

#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/process/process.h"

namespace dossier::internal {

// Everything that a child process needs, prepared before the fork: after a fork of a process with
// threads only async-signal-safe calls are allowed.
//
//   DOSSIER_ASSIGN_OR_RETURN(ChildPlan plan, PlanChild(spec));
//   plan.in = …; plan.out = …; plan.err = …;
//   if (fork() == 0) { … StartProgram(plan); }
//
// Ownership: a plan points into the spec it was made of and owns no descriptor. Thread-safety: one
// owner.
struct ChildPlan {
  std::string program;
  std::vector<char*> argv, environment;
  const char* folder = nullptr;
  int in = -1, out = -1, err = -1;
};

// Hides our memory from what is about to run. Errors: kInvalidArgument (no argv, a NUL byte),
// kNotFound.
Result<ChildPlan> PlanChild(const ProcessSpec& spec);

struct Pipe {
  UniqueFd read, write;
};
Result<Pipe> MakePipe();

// `fd`, or a copy if it is one of the standard three, which would be overwritten in the child.
UniqueFd AboveStandard(int fd);
// As open(2) with O_CLOEXEC, above the standard three.
Result<UniqueFd> OpenFile(const std::string& path, int flags, mode_t mode = 0);
// For reading a child's input: `input` as a file in memory, or /dev/null if it is empty.
Result<UniqueFd> InputFile(const std::string& input);

// waitpid through EINTR; `status` may be null.
void WaitFor(pid_t pid, int* status);

// What cannot be started, and why: kNotFound, kPermission, kIo.
Error StartError(int errno_value, const std::string& program);

// In the child: default actions, an empty mask, the folder, the program. Returns if that fails,
// with errno set.
void StartProgram(const ChildPlan& plan);

}  // namespace dossier::internal

// Attributes for posix_spawn that reset what a started program must not inherit from this process:
// blocked and ignored signals and, unless it is to share the terminal, the process group.
//
//   const SpawnAttributes attributes(SpawnGroup::kOwn);
//   posix_spawn(&pid, path, nullptr, attributes.get(), argv, environ);
//
// This program blocks the signals it waits for and ignores SIGPIPE; a child would keep both.
// Ownership: the object owns the attributes. Thread-safety: immutable after construction.

namespace dossier {

// kOurs: the keys of our terminal reach it, as a foreground program expects. kOwn: Ctrl-C is for us
// to handle.
enum class SpawnGroup { kOurs, kOwn };

class SpawnAttributes {
 public:
  explicit SpawnAttributes(SpawnGroup group);
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

// A signal to one process, and never to more.
//
//   SendSignal(pid, SIGTERM);
//
// To kill(), 0 means the caller's own process group and -1 every process of the user. A pid that
// was never set or was read from a damaged file would therefore end far more than one process.
// Thread-safety: pure functions.

// As kill(), but fails with ESRCH for a number that cannot be a process id. Safe after fork and
// vfork.
inline int SendSignal(pid_t pid, int number) {
  if (pid > 0) return kill(pid, number);
  errno = ESRCH;
  return -1;
}

// The same for the process group that `leader` leads. Group 1, that of init, is refused too.
inline int SendGroupSignal(pid_t leader, int number) {
  if (leader > 1) return kill(-leader, number);
  errno = ESRCH;
  return -1;
}

// How many files may be open at once. A folder of thousands of files, which the user's soft limit
// (often 1,024) does not allow, must not need a setting; other programs may fail with a higher one.
//
//   AllowManyFiles();              // first thing in a command
//   … fork() … RestoreFileLimit(); // in the child, before another program
//
// Thread-safety: the first before there are threads, the second from any; it is safe after a fork.

// Raises this process's soft limit to its hard one.
void AllowManyFiles();

// Sets the soft limit of a process, 0 for this one, to what ours was when AllowManyFiles was
// called.
void RestoreFileLimit(pid_t pid = 0);

// Keeps what this process knows from the programs that it starts, and from the disk.
//
//   HideMemory();   // before a program of somebody else runs
//
// Thread-safety: both change the whole process. They are safe after a fork.

// From now on the kernel writes no core dump of this process and of those that it forks, and other
// processes of the same user can neither trace it nor read its memory and its environment in /proc,
// where keys of providers are. What execve starts is not hidden. Root sees everything still.
void HideMemory();

// In a forked process: removes the arguments and the environment that this program was started
// with, which /proc shows, and which a question or a key may be part of. getenv finds nothing more.
void HideCommandLine();

}  // namespace dossier

#endif  // DOSSIER_BASE_PROCESS_CHILD_H_
