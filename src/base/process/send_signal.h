// A signal to one process, and never to more.
//
//   SendSignal(pid, SIGTERM);
//
// For kill() the numbers 0 and -1 are the own group and every process of the user, so a number that
// was never set, or was read from a damaged file, would end all there is. Thread-safety: a
// function.

#ifndef DOSSIER_BASE_PROCESS_SEND_SIGNAL_H_
#define DOSSIER_BASE_PROCESS_SEND_SIGNAL_H_

#include <signal.h>
#include <sys/types.h>

#include <cerrno>

namespace dossier {

// kill(), but for a number that is no process's it fails with ESRCH. Safe after fork and vfork.
inline int SendSignal(pid_t pid, int number) {
  if (pid > 0) return kill(pid, number);
  errno = ESRCH;
  return -1;
}

// The same for the process group that `leader` leads. 1 is init's, which is nobody's child here.
inline int SendGroupSignal(pid_t leader, int number) {
  if (leader > 1) return kill(-leader, number);
  errno = ESRCH;
  return -1;
}

}  // namespace dossier

#endif  // DOSSIER_BASE_PROCESS_SEND_SIGNAL_H_
