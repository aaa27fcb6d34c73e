// System calls by which a program in a jail could get away from the process that watches it.
//
//   std::vector<FilterRule> rules = ProgramRules(policy);
//   AppendWatchRules({.keeper = getppid(), .memfds = WatchPolicy::Memfds::kNone}, rules);
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SANDBOX_WALLS_WATCH_RULES_H_
#define DOSSIER_SANDBOX_WALLS_WATCH_RULES_H_

#include <sys/types.h>

#include <vector>

#include "sandbox/walls/seccomp_program.h"

namespace dossier::sandbox {

struct WatchPolicy {
  // Whose priority and processors the program cannot change, though both have one user.
  pid_t keeper = 0;
  // Memory in a descriptor that is not mapped shows nowhere. kNone: the kernel says that it has
  // none, as an older one does, and programs go on without.
  enum class Memfds { kAny, kNone } memfds = Memfds::kAny;
};

void AppendWatchRules(const WatchPolicy& policy, std::vector<FilterRule>& rules);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_WATCH_RULES_H_
