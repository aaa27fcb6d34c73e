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

// Also hides our memory from the program (HideMemory). Errors: kInvalidArgument (no argv, a NUL
// byte), kNotFound.
Result<ChildPlan> PlanChild(const ProcessSpec& spec);

struct Pipe {
  UniqueFd read, write;
};
Result<Pipe> MakePipe();

// Returns `fd`, or a copy if it is 0, 1 or 2, which the child would overwrite.
UniqueFd AboveStandard(int fd);
// As open(2) with O_CLOEXEC; the descriptor is above 2.
Result<UniqueFd> OpenFile(const std::string& path, int flags, mode_t mode = 0);
// A child's stdin: `input` as a file in memory, or /dev/null if it is empty.
Result<UniqueFd> InputFile(const std::string& input);

// waitpid through EINTR; `status` may be null.
void WaitFor(pid_t pid, int* status);

// The error for a program that cannot be started: kNotFound, kPermission, kIo.
Error StartError(int errno_value, const std::string& program);

// In the child: restores signal actions and mask, changes to the folder, executes the program.
// Returns only on failure, with errno set.
void StartProgram(const ChildPlan& plan);

}  // namespace dossier::internal

// Attributes for posix_spawn that reset what a child must not inherit from this process: blocked
// and ignored signals and, unless it shares the terminal, the process group.
//
//   const SpawnAttributes attributes(SpawnGroup::kOwn);
//   posix_spawn(&pid, path, nullptr, attributes.get(), argv, environ);
//
// This program blocks the signals it waits for and ignores SIGPIPE; a child would keep both.
// Ownership: the object owns the attributes. Thread-safety: immutable after construction.

namespace dossier {

// kOurs: the child gets the terminal's signals (Ctrl-C), like a foreground program. kOwn: we handle
// Ctrl-C.
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

// Sends a signal to exactly one process.
//
//   SendSignal(pid, SIGTERM);
//
// For kill(), 0 means the caller's own process group and -1 every process of the user. So a pid
// that was never set, or came from a damaged file, would end far more than one process.
// Thread-safety: pure functions.

// As kill(), but fails with ESRCH for a number that cannot be a process id. Safe after fork and
// vfork.
inline int SendSignal(pid_t pid, int number) {
  if (pid > 0) return kill(pid, number);
  errno = ESRCH;
  return -1;
}

// The same for the process group of `leader`. Group 1, that of init, is refused too.
inline int SendGroupSignal(pid_t leader, int number) {
  if (leader > 1) return kill(-leader, number);
  errno = ESRCH;
  return -1;
}

// The limit on open files. Using a folder of thousands of files must work without a setting, though
// the user's soft limit (often 1,024) is lower; other programs may fail with a higher limit.
//
//   AllowManyFiles();              // first thing in a command
//   … fork() … RestoreFileLimit(); // in the child, before another program
//
// Thread-safety: call the first before there are threads, the second from any; it is safe after a
// fork.

// Raises this process's soft limit to its hard one.
void AllowManyFiles();

// Sets the soft limit of a process, 0 for this one, to our limit before AllowManyFiles was called.
void RestoreFileLimit(pid_t pid = 0);

// Hides the data of this process from the programs that it starts, and keeps it off the disk.
//
//   HideMemory();   // before a program of somebody else runs
//
// Thread-safety: both change the whole process. They are safe after a fork.

// From now on the kernel writes no core dump of this process and its forks, and other processes of
// the same user can neither trace it nor read its memory and environment in /proc, which contain
// provider keys. A program started by execve is not hidden. Root still sees everything.
void HideMemory();

// In a forked process: erases the arguments and environment that this program was started with from
// /proc, because they may contain a question or a key. getenv finds nothing afterwards.
void HideCommandLine();

}  // namespace dossier

#endif  // DOSSIER_BASE_PROCESS_CHILD_H_
