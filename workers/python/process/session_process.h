// A session's process, from the fork to its end: opens, locks, then runs requests one by one.
//
//   const pid_t pid = …fork…;
//   if (pid == 0) RunSessionProcess({.plan = &plan, .runtime = runtime, .socket = std::move(fd)});
//
// It never returns: the process ends when the host closes the bridge.

#ifndef DOSSIER_WORKERS_PYTHON_SESSION_PROCESS_H_
#define DOSSIER_WORKERS_PYTHON_SESSION_PROCESS_H_

#include <vector>

#include "base/files/file.h"
#include "python_ref.h"
#include "sandbox/walls/isolation.h"

namespace dossier::worker {

struct SessionProcessParts {
  sandbox::IsolationPlan* plan = nullptr;
  PyObject* runtime = nullptr;  // dossier_runtime
  UniqueFd socket;
  std::vector<Ref> texts;  // of the contexts, if the zygote has them
};

// With the interpreter's lock, after PyOS_AfterFork_Child.
[[noreturn]] void RunSessionProcess(SessionProcessParts parts);

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PYTHON_SESSION_PROCESS_H_
