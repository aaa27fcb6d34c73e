// Namespaces and the new root: what the process can see at all.
//
//   Namespaces namespaces;
//   RootSpec spec{.read = {"/usr/lib/python3.11"}, .load = {"/lib64"}};
//   DOSSIER_RETURN_IF_ERROR(namespaces.Enter(spec));
//   // in each session, cloned with kSessionFlags:
//   DOSSIER_RETURN_IF_ERROR(namespaces.EnterSession(64 << 20));
//
// A net namespace costs milliseconds, so one set is made for all sessions; a session gets its own
// user, pid and mount namespaces, in some hundred microseconds. Thread-safety: none.

#ifndef DOSSIER_SANDBOX_WALLS_NAMESPACES_H_
#define DOSSIER_SANDBOX_WALLS_NAMESPACES_H_

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"

namespace dossier::sandbox {

// A folder made of layers (overlayfs) in the caller's own mount namespace: what is changed goes to
// one of them, the others stay as they are.
//
//   OverlayLayers layers{.place = "/usr", .lower = {"/usr"}, .upper = "/run/u", .work = "/run/w"};
//   DOSSIER_ASSIGN_OR_RETURN(const OpenedOverlay opened, OpenOverlay(layers));
//   … what hides the layers' paths, such as a new root …
//   DOSSIER_RETURN_IF_ERROR(MountOverlay(opened, "/tmp/usr"));
//
// Needs Linux 5.11 where the namespace belongs to a user namespace. The kernel changes no folder or
// file of a lower layer whose owner the user namespace does not map (EOVERFLOW): put a layer of
// folders of one's own between. Errors: kUnavailable, with the kernel's reason. Thread-safety:
// none.

struct OverlayLayers {
  std::string place;
  std::vector<std::string> lower;  // uppermost first; absent ones are left out
  std::string upper, work;         // both "": read-only; `work` is an empty folder
};

// Descriptors of the layers: they stay reachable under any root.
struct OpenedOverlay {
  std::string place;
  std::vector<UniqueFd> lower;
  UniqueFd upper, work;  // invalid: read-only
};

Result<OpenedOverlay> OpenOverlay(const OverlayLayers& layers);

// At `place`, a folder. No program of it is set-user-id, no file a device. /proc must be mounted.
Status MountOverlay(const OpenedOverlay& overlay, const std::string& place);

// Own user namespace: RLIMIT_NPROC then counts this session only, and its capabilities reach
// nothing.
inline constexpr unsigned long kSessionFlags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS;

inline constexpr const char* kInnerHost = "sandbox";  // the name of the machine inside
inline constexpr uid_t kInnerId = 1000;  // what the code is called inside, user and group

// Absent paths are skipped.
struct RootSpec {
  std::vector<std::string> read;     // folders or files that stay
  std::vector<std::string> load;     // folders that go with CloseLoadFolders
  std::vector<std::string> write;    // folders that stay and may be changed
  std::vector<std::string> devices;  // device files: as they are
  struct Mount {
    std::string source, path;  // of the old root, of the new one
    enum class Access : std::uint8_t { kRead, kWrite } access = Access::kRead;
  };
  std::vector<Mount> mounts;
  // Files and folders in those of `write` and `mounts` that stay as they are: a program can neither
  // change, remove nor rename them. No link is followed.
  struct Guard {
    std::string source, path;  // of the old root, of the new one
  };
  std::vector<Guard> guards;
  std::vector<OverlayLayers> overlays;
  std::vector<std::string> folders;  // made empty: places for mounts
  struct Text {
    std::string path, content;
  };
  std::vector<Text> files;  // made with this content
  struct Link {
    std::string path, target;
  };
  std::vector<Link> links;
  // kLoopback: its own, with the interface lo up, 127.0.0.1 and ::1.
  enum class Network { kOwn, kLoopback, kShared } network = Network::kOwn;
  uid_t inner_uid = kInnerId;  // what the process is called inside
  gid_t inner_gid = kInnerId;
};

// Whether files of a mount may be executed.
enum class Programs { kRefuse, kAllow };

class Namespaces {
 public:
  // Keeps a way to /proc, which the new root lacks. Before anything else.
  Status OpenProc();

  // User, mount, net, ipc and uts namespaces, then a root with nothing but the folders of `spec`,
  // read-only, and an empty /tmp. Errors: kUnavailable; the process then may be in some of the
  // namespaces, but still has the root it had.
  Status Enter(const RootSpec& spec);
  Status CloseLoadFolders();

  // In a process cloned with kSessionFlags: its ids, its own /tmp as working folder.
  Status EnterSession(std::uint64_t tmp_bytes) const;

  // In a process that is the first of a pid namespace: its /tmp, an empty /dev/shm where the root
  // has that folder, and /proc, read-only, with nothing but its own processes. A kernel that hides
  // parts of the outer /proc allows no new one; then there is none. Ends with CloseLoadFolders: the
  // outer /proc must be in the new root until then (`load`).
  struct Jail {
    std::uint64_t tmp_bytes = 0;
    // So many processes are meant to be there: where the kernel can (Linux 6.14 and later), it
    // gives out some thousand ids more and then none. The last resort, where what counts comes too
    // late. 0: no limit of this kind.
    int processes = 0;
  };
  Status EnterJail(const Jail& jail);

  // Later in the same process: another size of its /tmp.
  Status ResizeTmp(std::uint64_t bytes) const;

  // Bytes that count against RLIMIT_DATA in the calling process; 0 if unknown.
  std::uint64_t DataMemory() const;

  // A /proc that shows the caller's processes: that of EnterJail, else the one of OpenProc. -1 if
  // there is none.
  UniqueFd OpenProcesses() const;

  bool entered() const { return entered_; }
  void CloseProc() { proc_.Reset(); }

 private:
  Status MountTmp(std::uint64_t bytes, Programs programs) const;

  UniqueFd proc_;
  struct Place {
    std::string path;
    bool folder;
  };
  std::vector<std::string> load_;  // as they are called in the new root
  std::vector<Place> below_tmp_;   // of what stays; a session's own /tmp would hide them
  bool entered_ = false;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_NAMESPACES_H_
