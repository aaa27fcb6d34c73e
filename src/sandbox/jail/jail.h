// Runs an external program behind the sandbox's walls: without a shell, with the folders that it
// may read and write and with limits. When it ends, everything that it started is ended too.
//
//   JailSpec spec;
//   spec.folder = "/home/ann/project";
//   spec.read = {"/home/ann/project"};
//   spec.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
//   const std::string argv[] = {"git", "log", "-n", "2"};
//   DOSSIER_ASSIGN_OR_RETURN(const Exit exit, RunJailed(spec, argv, {}));
//   if (exit.status == 0) Use(exit.out);
//
// The program sees the folders of the system (SystemFolders), those of the spec at their own paths,
// a private /tmp, and nothing else. It runs as the user who asks. Root becomes the owner of the
// first write root, else of the first read root, a mount counting behind the roots of its kind,
// else nobody; in each case without any capability.
//
// Limits over all processes are the kernel's where there is a delegated cgroup. Else RLIMIT_NPROC
// bounds the number of processes, but not root's: these the keeper counts every 5 ms, at a high
// priority, and since Linux 6.14 the pid namespace has an end of ids some thousand above. Without a
// pid namespace nothing would hold root's: strict refuses to start as root then. Shared memory is
// counted by the keeper, and there are no memfds.
//
// Layers are those of the Python worker (isolation.h) with another list of system calls; the report
// has the same form. `flags`, `rlimits`, `seccomp` and one of `landlock` and `namespaces` must be
// there, unless the mode is degraded.
//
// In the folders that it may change, `.git`, `.dossier`, `dossier.yml` and whatever else git takes
// for a repository stay as they are, and those that it makes get another name (control_files.h).
//
// Without namespaces: no private /tmp (a folder of its own is made, named by TMPDIR, and removed),
// no /proc, no signals to other processes unless landlock scopes them, no local sockets but pairs,
// no shared memory by number; `.git` and the others can be changed, which the report's gaps say.
//
// Thread-safety: RunJailed may be called from many threads; it blocks the caller.

#ifndef DOSSIER_SANDBOX_JAIL_JAIL_H_
#define DOSSIER_SANDBOX_JAIL_JAIL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "sandbox/walls/cgroup.h"
#include "sandbox/walls/isolation.h"

namespace dossier::sandbox {

struct JailLimits {
  std::optional<Millis> wall{120'000};  // then TERM, `grace`, KILL; unset: none
  Millis grace{100};                    // between TERM and KILL, whatever asks for the end
  Millis cpu{120'000};                  // of all processes together
  // Bytes: private memory of each process; and private and shared memory, /tmp and /dev/shm of all
  // together.
  std::uint64_t memory = 4ull << 30;
  std::uint64_t file_size = 1ull << 30;  // bytes of one file
  std::uint64_t tmp = 256u << 20;        // bytes of the private /tmp, and of /dev/shm
  std::uint64_t output = 16u << 20;      // bytes kept of stdout and of stderr; the rest is counted
  int processes = 256;                   // threads included
  int files = 1024;                      // open files of a process
};

// kLoopback: a network of the program's own, in which its processes reach one another and nothing
// else. Without namespaces that would be the machine's, so it is kNone there.
enum class JailNetwork { kNone, kLoopback, kAny };

// The program's stdin: nothing, the given bytes, or a descriptor, which the caller keeps.
struct NoInput {};
using JailInput = std::variant<NoInput, std::string, int>;

// A folder or file of the host that the program sees at another path.
struct JailMount {
  std::string host, inside;  // absolute paths
  // kWriteAll: `.git` and the others, too. For folders that were made for the program, in which no
  // user works.
  enum class Access { kRead, kWrite, kWriteAll } access = Access::kRead;
};

// A folder of layers (overlayfs): what the program changes goes to `upper` and nowhere else.
// Folders of the host below `place` that the spec lets it read are hidden by it.
struct JailOverlay {
  std::string place;               // in the jail: "/usr"
  std::vector<std::string> lower;  // of the host, uppermost first; those that do not exist are left
                                   // out, one must be there
  std::string upper, work;         // of the host, on one file system; both "": read-only. `work` is
                                   // an empty folder, made anew for each program
};

// kRoot: uid and gid are 0 inside. That is a name: the program has no capability and is the user
// that it would be otherwise; what only root can do (to give files away, to become somebody else)
// does nothing and says that it succeeded, as package managers expect.
enum class JailUser { kOwn, kRoot };

struct JailSpec {
  // Absolute paths; folders or files. Those that do not exist are left out.
  std::vector<std::string> read;   // read and execute below
  std::vector<std::string> write;  // change everything below, too
  // Folders that the program sees at other paths than the host's. Without namespaces they appear at
  // their host paths, and so does a working folder below them; a caller that needs the other paths
  // adds "namespaces" to required_layers.
  std::vector<JailMount> mounts = {};
  std::vector<std::string> system = {};  // empty: SystemFolders()
  // Device files that the program may use as the user may, beside those of every jail.
  std::vector<std::string> devices = {};
  // Layer `overlay`; where it cannot be had, or without namespaces, nothing runs (kUnavailable).
  std::vector<JailOverlay> overlays = {};
  JailUser user = JailUser::kOwn;
  JailNetwork network = JailNetwork::kNone;
  std::string folder;  // working folder, as the program sees it; empty: the first write or read
                       // root, else /
  std::vector<std::string> environment;  // "NAME=value", the whole of it
  JailInput input;
  JailLimits limits;
  Mode mode = Mode::kStrict;
  std::vector<std::string> required_layers;  // more than strict needs; hold in degraded mode too
  std::vector<std::string> disabled_layers;  // for tests: treated as unavailable; "pid_max" too,
                                             // by which newer kernels bound the ids
  CgroupPlace cgroups = {};                  // for tests: other folders
};

enum class Stream { kOut, kErr };

struct Io {
  // Gets the output as it comes, on the calling thread; then none is kept. Empty: it is kept in
  // Exit, up to limits.output.
  std::function<void(Stream, std::string_view)> on_output;
  CancelToken cancel;
};

// Why the jail ended the program; kNothing if it ended by itself.
enum class JailStop { kNothing, kTime, kCancel, kCpu, kMemory, kProcesses };
std::string_view JailStopName(JailStop stop);  // "", time, cancelled, cpu, memory, processes

struct Exit {
  int status = -1;  // exit status; -1 if a signal ended it
  int signal = 0;
  JailStop stop = JailStop::kNothing;
  std::string out, err;
  std::uint64_t out_bytes = 0, err_bytes = 0;      // written
  std::uint64_t out_dropped = 0, err_dropped = 0;  // of these, not kept
  Millis wall{0}, cpu{0};                          // cpu: of all processes
  std::uint64_t peak_bytes = 0;                    // resident memory of the largest process
  int set_aside = 0;  // control files that the program made; lines at the end of stderr say which
  IsolationReport report;

  bool timed_out() const { return stop == JailStop::kTime; }
  bool cancelled() const { return stop == JailStop::kCancel; }
  // 128 + signal where a signal ended it, as a shell says it.
  int shell_status() const { return signal != 0 ? 128 + signal : status; }
};

// Runs `argv` to its end, and ends all its descendants, also those of other sessions. argv[0]
// without a slash is searched in the PATH of spec.environment, else in /usr/bin and /bin. Errors:
// kInvalidArgument (an empty argv, a relative or root "/" folder, NUL bytes, a limit out of range);
// kUnavailable naming the layer that is missing; kNotFound, kPermission if the program or the
// working folder is not there in the jail; kDied if the walls' own process was killed. A status
// that is not 0, a limit and a cancelled token are no errors.
Result<Exit> RunJailed(const JailSpec& spec, std::span<const std::string> argv, const Io& io = {});

// Where programs, libraries and what they need to start lie: /usr, /bin, /lib…, and single files of
// /etc without accounts or secrets. For network: also names of hosts and certificates.
std::vector<std::string> SystemFolders(JailNetwork network);

// Layers of the jail that a person does without, by name: what `--degraded NAME` means everywhere.
//
//   DOSSIER_RETURN_IF_ERROR(CheckLayerNames(names));       // "--degraded landlok: no such layer"
//   AcceptMissing(names, &spec);                           // strict, but for these
//   if (!exit) Tell(exit.error().message + WayOut(exit.error()));
//
// Thread-safety: pure functions.

// Errors: kUsage, naming the first that is no layer of a jail, and those that there are.
Status CheckLayerNames(std::span<const std::string> names);

// Every layer but `names` must be there.
void AcceptMissing(std::span<const std::string> names, JailSpec* spec);

// For an error that names a missing layer: "; `--degraded landlock` runs without it". Else "".
std::string WayOut(const Error& error);

// Of a jail's layers, those that were not applied.
std::vector<std::string> MissingLayers(const IsolationReport& report);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_JAIL_JAIL_H_
