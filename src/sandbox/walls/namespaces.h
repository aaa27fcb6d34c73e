// Namespaces and the new root, which determine what the process can see at all.
//
//   Namespaces namespaces;
//   RootSpec spec{.read = {"/usr/lib/python3.11"}, .load = {"/lib64"}};
//   DOSSIER_RETURN_IF_ERROR(namespaces.Enter(spec));
//   // in each session, cloned with kSessionFlags:
//   DOSSIER_RETURN_IF_ERROR(namespaces.EnterSession(64 << 20));
//
// A net namespace costs milliseconds, so all sessions share one set; each gets its own user, pid
// and mount namespaces in a few hundred microseconds. Thread-safety: not thread-safe.

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

// Mounts a folder made of layers (overlayfs) in the caller's own mount namespace: changes go to one
// layer, the others stay as they are.
//
//   OverlayLayers layers{.place = "/usr", .lower = {"/usr"}, .upper = "/run/u", .work = "/run/w"};
//   DOSSIER_ASSIGN_OR_RETURN(const OpenedOverlay opened, OpenOverlay(layers));
//   … what hides the layers' paths, such as a new root …
//   DOSSIER_RETURN_IF_ERROR(MountOverlay(opened, "/tmp/usr"));
//
// Needs Linux 5.11 if the namespace belongs to a user namespace. The kernel cannot change a file or
// folder of a lower layer whose owner is not mapped in the user namespace (EOVERFLOW): put a layer
// with folders of one's own in between. Errors: kUnavailable with the kernel's reason.
// Thread-safety: not thread-safe.

struct OverlayLayers {
  std::string place;
  std::vector<std::string> lower;  // uppermost first; missing ones are skipped
  std::string upper, work;         // both "": read-only; `work` must be empty
};

// Descriptors of the layers, which stay reachable under any root.
struct OpenedOverlay {
  std::string place;
  std::vector<UniqueFd> lower;
  UniqueFd upper, work;  // invalid: read-only
};

Result<OpenedOverlay> OpenOverlay(const OverlayLayers& layers);

// Mounts at the folder `place`, without set-user-id programs and devices. /proc must be mounted.
Status MountOverlay(const OpenedOverlay& overlay, const std::string& place);

// With its own user namespace, RLIMIT_NPROC counts this session only, and its capabilities have no
// effect outside.
inline constexpr unsigned long kSessionFlags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS;

inline constexpr const char* kInnerHost = "sandbox";  // the host name inside
inline constexpr uid_t kInnerId = 1000;               // user and group id of the code inside

// The content of the new root. Missing paths are skipped.
struct RootSpec {
  std::vector<std::string> read;     // folders or files that stay
  std::vector<std::string> load;     // folders that CloseLoadFolders removes
  std::vector<std::string> write;    // folders that stay and are writable
  std::vector<std::string> devices;  // device files, unchanged
  struct Mount {
    std::string source, path;  // in the old and in the new root
    enum class Access : std::uint8_t { kRead, kWrite } access = Access::kRead;
  };
  std::vector<Mount> mounts;
  // Files and folders inside `write` and `mounts` that are protected: a program can neither change,
  // remove nor rename them. Links are not followed.
  struct Guard {
    std::string source, path;  // in the old and in the new root
  };
  std::vector<Guard> guards;
  std::vector<OverlayLayers> overlays;
  std::vector<std::string> folders;  // created empty, as mount points
  struct Text {
    std::string path, content;
  };
  std::vector<Text> files;  // created with this content
  struct Link {
    std::string path, target;
  };
  std::vector<Link> links;
  // kLoopback: a network of its own, with the interface lo up (127.0.0.1 and ::1).
  enum class Network { kOwn, kLoopback, kShared } network = Network::kOwn;
  uid_t inner_uid = kInnerId;  // user id of the process inside
  gid_t inner_gid = kInnerId;
};

// Permission to execute the files of a mount.
enum class Programs { kRefuse, kAllow };

class Namespaces {
 public:
  // Keeps a descriptor of /proc, which the new root lacks. Call this before anything else.
  Status OpenProc();

  // Enters user, mount, net, ipc and uts namespaces, then a root that has only the folders of
  // `spec`, read-only, and an empty /tmp. Errors: kUnavailable; the process may then be in some of
  // the namespaces, but still has its old root.
  Status Enter(const RootSpec& spec);
  Status CloseLoadFolders();

  // In a process cloned with kSessionFlags: sets its ids, and its own /tmp as working folder.
  Status EnterSession(std::uint64_t tmp_bytes) const;

  // Call this in the first process of a pid namespace: sets up its /tmp, an empty /dev/shm if the
  // root has that folder, and a read-only /proc that shows only its own processes. A kernel that
  // hides parts of the outer /proc refuses a new one; then there is none. Calls CloseLoadFolders:
  // until then the outer /proc must be in the new root (`load`).
  struct Jail {
    std::uint64_t tmp_bytes = 0;
    // The expected number of processes: if the kernel can (Linux 6.14 and later), it limits the ids
    // to this plus some thousand. It is the last resort when counting is too slow. 0: no such
    // limit.
    int processes = 0;
  };
  Status EnterJail(const Jail& jail);

  // Changes the size of /tmp later in the same process.
  Status ResizeTmp(std::uint64_t bytes) const;

  // Returns the bytes that count against RLIMIT_DATA in the calling process; 0 if unknown.
  std::uint64_t DataMemory() const;

  // Returns a /proc that shows the caller's processes: that of EnterJail, else that of OpenProc. -1
  // if there is none.
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
  std::vector<std::string> load_;  // paths in the new root
  std::vector<Place> below_tmp_;   // paths that stay; a session's own /tmp would hide them
  bool entered_ = false;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_NAMESPACES_H_
