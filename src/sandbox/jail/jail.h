// Runs an external program inside the sandbox's walls: without a shell, with given folders to read
// and write, and with limits. When it ends, all processes that it started are ended too.
//
//   JailSpec spec;
//   spec.folder = "/home/ann/project";
//   spec.read = {"/home/ann/project"};
//   spec.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
//   const std::string argv[] = {"git", "log", "-n", "2"};
//   DOSSIER_ASSIGN_OR_RETURN(const Exit exit, RunJailed(spec, argv, {}));
//   if (exit.status == 0) Use(exit.out);
//
// The program sees the system's folders (SystemFolders), those of the spec at their own paths, a
// private /tmp, and nothing else. It runs as the calling user. If that is root, it becomes the
// owner of the first write root, else of the first read root (mounts count after the roots of their
// kind), else nobody; it never has any capability.
//
// With a delegated cgroup the kernel enforces the limits over all processes. Otherwise RLIMIT_NPROC
// limits the number of processes, except root's: the keeper counts these every 5 ms at high
// priority, and since Linux 6.14 the pid namespace's ids end some thousand above the limit. Without
// a pid namespace nothing would limit root's: strict mode then refuses to start as root. The keeper
// counts shared memory, and there are no memfds.
//
// The layers are those of the Python worker (isolation.h) with other system calls; the report has
// the same form. Unless the mode is degraded, `flags`, `rlimits`, `seccomp` and one of `landlock`
// and `namespaces` are required.
//
// In its writable folders, `.git`, `.dossier`, `dossier.yml` and everything else that git takes for
// a repository cannot change, and those that it creates are renamed (control_files.h).
//
// Without namespaces: no private /tmp (a folder is created, named by TMPDIR, and removed), no
// /proc, no signals to other processes unless landlock scopes them, no local sockets except pairs,
// no shared memory by number. A folder to write that holds `.git` or one of the others is refused
// then, as they could be changed; in degraded mode the report's gaps say so.
//
// Thread-safety: RunJailed may be called from many threads; it blocks the caller.

#ifndef DOSSIER_SANDBOX_JAIL_JAIL_H_
#define DOSSIER_SANDBOX_JAIL_JAIL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/result.h"
#include "sandbox/walls/cgroup.h"
#include "sandbox/walls/isolation.h"

namespace dossier::sandbox {

struct JailLimits {
  std::optional<Millis> wall{120'000};  // then TERM, `grace`, KILL; unset: no limit
  Millis grace{100};                    // between TERM and KILL, whatever the reason
  // Of all processes together. Children that nobody waits for, since SIGCHLD is ignored, count as
  // far as they live for more than 100 ms; without namespaces for more than half a second.
  Millis cpu{120'000};
  // Bytes: of private memory for each process; of private and shared memory, /tmp and /dev/shm for
  // all together.
  std::uint64_t memory = 4ull << 30;
  std::uint64_t file_size = 1ull << 30;  // bytes of one file
  std::uint64_t tmp = 256u << 20;        // bytes of the private /tmp, and of /dev/shm
  std::uint64_t output = 16u << 20;      // bytes kept of stdout and of stderr; the rest is counted
  int processes = 256;                   // threads included
  int files = 1024;                      // open files per process
};

// kLoopback: a private network in which the program's processes reach only one another. Without
// namespaces it would be the machine's, so kNone is used there.
enum class JailNetwork { kNone, kLoopback, kAny };

// The program's stdin: nothing, the given bytes, or a descriptor that the caller keeps open.
struct NoInput {};
using JailInput = std::variant<NoInput, std::string, int>;

// A folder or file of the host that the program sees at another path.
struct JailMount {
  std::string host, inside;  // absolute paths
  // kWriteAll: `.git` and the others are writable too. For folders that were made for the program
  // and in which no user works.
  enum class Access { kRead, kWrite, kWriteAll } access = Access::kRead;
};

// A folder of layers (overlayfs): the program's changes go to `upper` only. It hides the host's
// folders below `place` that the spec lets the program read.
struct JailOverlay {
  std::string place;               // in the jail: "/usr"
  std::vector<std::string> lower;  // on the host, uppermost first; missing ones are skipped, but
                                   // one must exist
  std::string upper, work;         // on the host, on one file system; both "": read-only. `work` is
                                   // an empty folder, created again for each program
};

// kRoot: uid and gid are 0 inside. This is only a name: the program has no capability and runs as
// the same user as otherwise. Operations that need root (changing owners or ids) succeed without
// effect, as package managers expect.
enum class JailUser { kOwn, kRoot };

struct JailSpec {
  // Absolute paths of folders or files; missing ones are skipped.
  std::vector<std::string> read;   // read and execute below
  std::vector<std::string> write;  // also change everything below
  // Folders that the program sees at other paths than the host's. Without namespaces they appear at
  // their host paths, and so does a working folder below them; a caller that needs the other paths
  // adds "namespaces" to required_layers.
  std::vector<JailMount> mounts = {};
  // Files that were made for the mounts, and are removed with the last copy of the spec.
  std::shared_ptr<const TempFolder> made = {};
  std::vector<std::string> system = {};  // empty: SystemFolders()
  // Device files that the program may use with the user's rights, beside those of every jail.
  std::vector<std::string> devices = {};
  // Layer `overlay`; if it is unavailable, or without namespaces, nothing runs (kUnavailable).
  std::vector<JailOverlay> overlays = {};
  JailUser user = JailUser::kOwn;
  JailNetwork network = JailNetwork::kNone;
  std::string folder;  // working folder as the program sees it; empty: the first write or read
                       // root, else /
  std::vector<std::string> environment;  // "NAME=value", the complete environment
  JailInput input;
  JailLimits limits;
  IsolationMode mode = IsolationMode::kStrict;
  std::vector<std::string> required_layers;  // more than strict needs; also in degraded mode
  std::vector<std::string> disabled_layers;  // for tests: treated as unavailable; also "pid_max",
                                             // by which newer kernels limit the ids
  CgroupPlace cgroups = {};                  // for tests: other folders
};

enum class Stream { kOut, kErr };

struct Io {
  // Receives the output as it arrives, on the calling thread; then none is kept. Empty: the output
  // is kept in Exit, up to limits.output.
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
  std::uint64_t out_dropped = 0, err_dropped = 0;  // of these, bytes not kept
  Millis wall{0}, cpu{0};                          // cpu: of all processes
  std::uint64_t peak_bytes = 0;                    // resident memory of the largest process
  int set_aside = 0;  // control files that the program made; named at the end of stderr
  IsolationReport report;

  bool timed_out() const { return stop == JailStop::kTime; }
  bool cancelled() const { return stop == JailStop::kCancel; }
  // 128 + signal if a signal ended it, as shells report it.
  int shell_status() const { return signal != 0 ? 128 + signal : status; }
};

// Runs `argv` to its end, and ends all its descendants, including those of other sessions. If
// argv[0] has no slash, it is searched in the PATH of spec.environment, else in /usr/bin and /bin.
// Errors: kInvalidArgument (an empty argv, a relative or root "/" folder, NUL bytes, a limit out of
// range); kUnavailable naming the missing layer; kNotFound, kPermission if the program or the
// working folder does not exist in the jail; kDied if the walls' own process was killed. A non-zero
// status, a limit and a cancelled token are not errors.
Result<Exit> RunJailed(const JailSpec& spec, std::span<const std::string> argv, const Io& io = {});

// Folders of programs, libraries and what they need to start: /usr, /bin, /lib…, and single files
// of /etc without accounts or secrets. With a network, also host names and certificates.
std::vector<std::string> SystemFolders(JailNetwork network);

// The jail layers that a user accepts to be missing, by name: the meaning of `--degraded NAME`.
//
//   DOSSIER_RETURN_IF_ERROR(CheckLayerNames(names));       // "--degraded landlok: no such layer"
//   AcceptMissing(names, &spec);                           // strict, but for these
//   if (!exit) Tell(exit.error().message + WayOut(exit.error()));
//
// Thread-safety: pure functions.

// Errors: kUsage, naming the first unknown layer and the existing ones.
Status CheckLayerNames(std::span<const std::string> names);

// Requires every layer except `names`.
void AcceptMissing(std::span<const std::string> names, JailSpec* spec);

// For an error that names a missing layer: "; `--degraded landlock` runs without it". Else "".
std::string WayOut(const Error& error);

// Returns the layers of a jail that were not applied.
std::vector<std::string> MissingLayers(const IsolationReport& report);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_JAIL_JAIL_H_
