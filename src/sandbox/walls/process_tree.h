// Finds the processes below one of ours in /proc: how many there are, and what they use together.
//
//   const std::vector<TreeProcess> tree = Descendants(proc_fd, getpid());
//   for (const TreeProcess& process : tree) kill(process.pid, SIGKILL);
//
// Thread-safety: pure functions over /proc.

#ifndef DOSSIER_SANDBOX_WALLS_PROCESS_TREE_H_
#define DOSSIER_SANDBOX_WALLS_PROCESS_TREE_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace dossier::sandbox {

struct TreeProcess {
  pid_t pid = 0, parent = 0;
  char state = '?';  // as in /proc/PID/stat: R, S, Z, …
  int threads = 0;
  Millis cpu{0};  // includes its children that were waited for
};

// Parses /proc/PID/stat, which holds a name chosen by the program. nullopt if malformed.
std::optional<TreeProcess> ParseProcessStat(std::string_view text);

// Returns every descendant of `root`, including zombies, in no order. `proc` is a descriptor of a
// /proc folder. Processes that start or end meanwhile may be missed.
std::vector<TreeProcess> Descendants(int proc, pid_t root);

// Returns the private resident memory of one process; 0 if it has ended.
std::uint64_t PrivateBytes(int proc, pid_t pid);

// Returns the memory that processes share without a file: shared mappings and memfds, each counted
// once, however many processes have it. Each counts with all its bytes up to the highest mapped
// one, touched or not, because pages stay after a process unmaps them. If a process hides its
// mappings, its resident memory counts. System V segments are not included: see IpcBytes.
std::uint64_t SharedBytes(int proc, const std::vector<TreeProcess>& processes);
// Parses the text of /proc/PID/maps; adds its shared memory in bytes by device and inode.
using SharedPieces = std::map<std::string, std::uint64_t, std::less<>>;
void AddSharedPieces(std::string_view maps, SharedPieces* pieces);

// Bytes of System V shared memory and queues in the caller's namespace, attached or not.
std::uint64_t IpcBytes(int proc);
// Parses the text of a table below /proc/sysvipc; returns the sum of its sizes.
std::uint64_t ParseIpcTable(std::string_view text);

// Returns the process id that was assigned last, as seen from `proc`; ids grow until they wrap
// around. Returns nullopt if it cannot be read. One small read, however many processes there are.
std::optional<pid_t> NewestPid(int proc);

// Returns the threads of all processes of a user, as RLIMIT_NPROC counts them outside user
// namespaces. Processes that hide from their own user are not counted.
int ThreadsOfUser(int proc, uid_t user);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_PROCESS_TREE_H_
