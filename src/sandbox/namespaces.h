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

#ifndef DOSSIER_SANDBOX_NAMESPACES_H_
#define DOSSIER_SANDBOX_NAMESPACES_H_

#include <sched.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace dossier::sandbox {

// Own user namespace: RLIMIT_NPROC then counts this session only, and its capabilities reach
// nothing.
inline constexpr unsigned long kSessionFlags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS;

struct RootSpec {
  std::vector<std::string> read;  // folders or files that stay; absent ones are skipped
  std::vector<std::string> load;  // folders that go with CloseLoadFolders
};

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

  // Later in the same process: another size of its /tmp.
  Status ResizeTmp(std::uint64_t bytes) const;

  // Bytes that count against RLIMIT_DATA in the calling process; 0 if unknown.
  std::uint64_t DataMemory() const;

  bool entered() const { return entered_; }
  void CloseProc() { proc_.Reset(); }

 private:
  UniqueFd proc_;
  struct Place {
    std::string path;
    bool folder;
  };
  std::vector<std::string> load_;  // as they are called in the new root
  std::vector<Place> below_tmp_;   // of the read folders; a session's own /tmp would hide them
  bool entered_ = false;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_NAMESPACES_H_
