// The processes below one of ours, as /proc shows them: how many, and what they use together.
//
//   const std::vector<TreeProcess> tree = Descendants(proc_fd, getpid());
//   for (const TreeProcess& process : tree) kill(process.pid, SIGKILL);
//
// Thread-safety: pure functions over /proc.

#ifndef DOSSIER_SANDBOX_WALLS_PROCESS_TREE_H_
#define DOSSIER_SANDBOX_WALLS_PROCESS_TREE_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace dossier::sandbox {

struct TreeProcess {
  pid_t pid = 0, parent = 0;
  char state = '?';  // as in /proc/PID/stat: R, S, Z, …
  int threads = 0;
  Millis cpu{0};  // its own and that of its children that were waited for
};

// Reads the text of /proc/PID/stat, in which a program chose its own name. nullopt if it is none.
std::optional<TreeProcess> ParseProcessStat(std::string_view text);

// Every descendant of `root`, zombies too, in no order. `proc`: a descriptor of a /proc folder.
// Processes that come and go meanwhile may be missed.
std::vector<TreeProcess> Descendants(int proc, pid_t root);

// Private resident memory of one process; 0 if it has ended.
std::uint64_t PrivateBytes(int proc, pid_t pid);

// Threads of all processes of a user, as RLIMIT_NPROC counts them outside of user namespaces. Those
// that hide from their own user are not seen.
int ThreadsOfUser(int proc, uid_t user);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_PROCESS_TREE_H_
