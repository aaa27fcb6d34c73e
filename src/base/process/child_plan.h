// Everything that a child process needs, prepared before the fork: after a fork of a process with
// threads only async-signal-safe calls are allowed. Shared by process.cc and supervised_process.cc.
//
//   DOSSIER_ASSIGN_OR_RETURN(ChildPlan plan, PlanChild(spec));
//   plan.in = …; plan.out = …; plan.err = …;
//   if (fork() == 0) { … StartProgram(plan); }
//
// Private to this module. Ownership: a plan points into the spec it was made of and owns no
// descriptor. Thread-safety: one owner.

#ifndef DOSSIER_BASE_PROCESS_CHILD_PLAN_H_
#define DOSSIER_BASE_PROCESS_CHILD_PLAN_H_

#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/process/process.h"

namespace dossier::internal {

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

#endif  // DOSSIER_BASE_PROCESS_CHILD_PLAN_H_
