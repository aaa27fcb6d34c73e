// The process between us and a program: see supervised_process.h. Private to this module.
//
// It runs in a fork of a process with threads, so it makes async-signal-safe calls only: no memory
// from the heap, no stdio.

#ifndef DOSSIER_BASE_PROCESS_SUPERVISOR_H_
#define DOSSIER_BASE_PROCESS_SUPERVISOR_H_

#include "base/process/child_plan.h"
#include "base/process/supervised_process.h"

namespace dossier::internal {

inline constexpr int kGiveUpMillis = 1000;  // how long to wait after KILL for processes to go

// The one message of a supervisor, sent just before it ends.
struct SupervisorReport {
  enum class Kind : int { kNotStarted, kEnded };
  Kind kind = Kind::kEnded;
  int value = 0;  // errno, or the program's status as waitpid gives it
  ProcessEnd::Left left = ProcessEnd::Left::kNothing;
};

// All signals must be blocked. A message on `control`, or its end, asks for the end of everything.
[[noreturn]] void RunSupervisor(const ChildPlan& plan, const Supervision& rules, int control);

}  // namespace dossier::internal

#endif  // DOSSIER_BASE_PROCESS_SUPERVISOR_H_
