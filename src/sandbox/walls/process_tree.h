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
  Millis cpu{0};  // its own and that of its children that were waited for
};

// Reads the text of /proc/PID/stat, in which a program chose its own name. nullopt if it is none.
std::optional<TreeProcess> ParseProcessStat(std::string_view text);

// Every descendant of `root`, zombies too, in no order. `proc`: a descriptor of a /proc folder.
// Processes that come and go meanwhile may be missed.
std::vector<TreeProcess> Descendants(int proc, pid_t root);

// Private resident memory of one process; 0 if it has ended.
std::uint64_t PrivateBytes(int proc, pid_t pid);

// Memory that processes share without a file: shared mappings and memfds, each once, however many
// have it. One counts with all of its bytes up to the highest that is mapped, touched or not: pages
// stay when a process lets go of them. Of a process that hides its mappings, what is resident
// counts. Pieces with a number (System V) are none of these: IpcBytes.
std::uint64_t SharedBytes(int proc, const std::vector<TreeProcess>& processes);
// Reads the text of /proc/PID/maps and adds its shared memory: by device and inode, bytes.
using SharedPieces = std::map<std::string, std::uint64_t, std::less<>>;
void AddSharedPieces(std::string_view maps, SharedPieces* pieces);

// Shared memory and queues of System V in the caller's namespace, attached or not.
std::uint64_t IpcBytes(int proc);
// Reads the text of a table below /proc/sysvipc: the sum of its sizes.
std::uint64_t ParseIpcTable(std::string_view text);

// The process id given out last where `proc` looks from: ids grow until they begin again. nullopt
// if it cannot be read. One small read, however many processes there are.
std::optional<pid_t> NewestPid(int proc);

// Threads of all processes of a user, as RLIMIT_NPROC counts them outside of user namespaces. Those
// that hide from their own user are not seen.
int ThreadsOfUser(int proc, uid_t user);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_PROCESS_TREE_H_
