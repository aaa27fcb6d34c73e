// Lets a node change the system folders of the local sandbox: writable layers over the host's
// folders, which stay unchanged.
//
//   SystemLayers system(run_folder + "/workers/system");       // one for all slots of a run
//   DOSSIER_RETURN_IF_ERROR(system.Prepare(OwnerOf(workspace)));
//   DOSSIER_RETURN_IF_ERROR(system.Open(node_folder + "/system", owner));
//   jail.overlays = system.Writable(node_folder + "/system");  // phase 1
//   jail.overlays = system.ReadOnly(node_folder + "/system");  // later phases: what phase 1 left
//
// There are three layers, uppermost first: what the node changed; a skeleton owned by the user,
// made once per run; the host's folder. The kernel allows no changes in a folder whose owner is
// unknown in the user namespace, which knows only one owner: so the skeleton repeats the host's
// folders (to a depth of 5), empty. /etc and /var have no host layer, only what the skeleton holds:
// files that the sandbox shows anyway, the apt sources without passwords, and Debian's list of
// users.
//
// Errors: kUnavailable with the reason, if the system has no overlay. Thread-safety: all methods
// from many threads, each with its own node.

#ifndef DOSSIER_RESEARCH_EXEC_SYSTEM_LAYERS_H_
#define DOSSIER_RESEARCH_EXEC_SYSTEM_LAYERS_H_

#include <sys/types.h>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/jail.h"

namespace dossier::research {

// Paths that programs of a research run read besides the jail's folders: other compilers, fonts and
// TeX, MPI settings, and what the probe reads. Absent ones are left out.
inline constexpr const char* kShownPaths[] = {"/opt",
                                              "/etc/os-release",
                                              "/etc/fonts",
                                              "/etc/matplotlibrc",
                                              "/etc/OpenCL",
                                              "/etc/openmpi",
                                              "/etc/texmf",
                                              "/var/cache/fontconfig",
                                              "/var/lib/dpkg",
                                              "/var/lib/texmf",
                                              "/sys/devices/system/cpu",
                                              "/sys/devices/system/node"};

// The owner of a node's files: the user, or the owner of the workspace if root works in it.
struct FileOwner {
  uid_t uid;
  gid_t gid;
};
Result<FileOwner> OwnerOf(const std::string& path);

class SystemLayers {
 public:
  // `folder` is absolute and created when needed. "": there are no layers.
  explicit SystemLayers(std::string folder) : folder_(std::move(folder)) {}

  // Makes the skeleton (takes some tenths of a second), unless this run already has one for this
  // host's system. Later calls return the first call's result.
  Status Prepare(FileOwner owner);

  // Opens the node's own layer, which is empty unless it exists already. `kFresh`: it was empty or
  // made for another system, so everything installed must be installed again.
  enum class Found : std::uint8_t { kKept, kFresh };
  Result<Found> Open(const std::string& node, FileOwner owner) const;

  // Recreates the work folders. Call after Open.
  Result<std::vector<sandbox::JailOverlay>> Writable(const std::string& node,
                                                     FileOwner owner) const;

  // Returns overlays for the folders in which the node changed something, and those below them;
  // none if it changed nothing, so that it costs nothing.
  std::vector<sandbox::JailOverlay> ReadOnly(const std::string& node) const;

  // A sentence naming files that commands would need but the skeleton lacks; "" if there are none.
  // Set by Prepare, in the object that makes the skeleton.
  const std::string& left_out() const { return left_out_; }

 private:
  Status Make(FileOwner owner);

  const std::string folder_;
  std::mutex mutex_;
  std::optional<Status> made_;
  std::string left_out_;
};

// Lets `node` use what `base` installed, in phases after phase 1.
Status LinkSystem(const std::string& base, const std::string& node);

// Returns variables for commands that change the system, "NAME=value": a PATH with the
// administrator's folders, and non-interactive installs.
std::vector<std::string> InstallEnvironment(std::string_view path);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_SYSTEM_LAYERS_H_
