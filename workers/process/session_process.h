// A session's process, from the fork to its end: opens, locks, then runs requests one by one.
//
//   const pid_t pid = …fork…;
//   if (pid == 0) RunSessionProcess({.plan = &plan, .language = language, .socket =
//   std::move(fd)});
//
// It never returns: the process ends when the host closes the bridge.

#ifndef DOSSIER_WORKERS_PROCESS_SESSION_PROCESS_H_
#define DOSSIER_WORKERS_PROCESS_SESSION_PROCESS_H_

#include "base/files/file.h"
#include "language.h"
#include "sandbox/walls/isolation.h"

namespace dossier::worker {

struct SessionProcessParts {
  sandbox::IsolationPlan* plan = nullptr;
  Language* language = nullptr;
  UniqueFd socket;
  // A spare's: it was forked before anybody asked for a session.
  enum class Rehearsal { kNo, kYes } rehearsal = Rehearsal::kNo;
};

// After Language::AfterFork.
[[noreturn]] void RunSessionProcess(SessionProcessParts parts);

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PROCESS_SESSION_PROCESS_H_
