// A signal to one process, and never to more.
//
//   SendSignal(pid, SIGTERM);
//
// To kill(), 0 means the caller's own process group and -1 every process of the user. A pid that
// was never set or was read from a damaged file would therefore end far more than one process.
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_PROCESS_SEND_SIGNAL_H_
#define DOSSIER_BASE_PROCESS_SEND_SIGNAL_H_

#include <signal.h>
#include <sys/types.h>

#include <cerrno>

namespace dossier {

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

}  // namespace dossier

#endif  // DOSSIER_BASE_PROCESS_SEND_SIGNAL_H_
