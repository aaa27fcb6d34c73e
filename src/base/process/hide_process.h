// Keeps what this process knows from the programs that it starts, and from the disk.
//
//   HideMemory();   // before a program of somebody else runs
//
// Thread-safety: both change the whole process. They are safe after a fork.

#ifndef DOSSIER_BASE_PROCESS_HIDE_PROCESS_H_
#define DOSSIER_BASE_PROCESS_HIDE_PROCESS_H_

namespace dossier {

// From now on the kernel writes no core dump of this process and of those that it forks, and other
// processes of the same user can neither trace it nor read its memory and its environment in /proc,
// where keys of providers are. What execve starts is not hidden. Root sees everything still.
void HideMemory();

// In a forked process: removes the arguments and the environment that this program was started
// with, which /proc shows, and which a question or a key may be part of. getenv finds nothing more.
void HideCommandLine();

}  // namespace dossier

#endif  // DOSSIER_BASE_PROCESS_HIDE_PROCESS_H_
