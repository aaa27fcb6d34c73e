// The system folders of the local sandbox as a node may change them: layers over those of the host,
// which stay as they are.
//
//   SystemLayers system(run_folder + "/workers/system");       // one for all slots of a run
//   DOSSIER_RETURN_IF_ERROR(system.Prepare(OwnerOf(workspace)));
//   DOSSIER_RETURN_IF_ERROR(system.Open(node_folder + "/system", owner));
//   jail.overlays = system.Writable(node_folder + "/system");  // phase 1
//   jail.overlays = system.ReadOnly(node_folder + "/system");  // later phases: what phase 1 left
//
// Three layers, uppermost first: what the node changed; a skeleton of the user's own, made once a
// run; the host's folder. The kernel changes nothing in a folder whose owner the user namespace
// does not know, and knows one owner only: so the skeleton repeats the host's folders (to a depth
// of 5), empty. Of /etc and /var there is no host layer, only what the skeleton holds of them:
// files that the sandbox shows anyway, the sources of apt without passwords, and Debian's list of
// users.
//
// Errors: kUnavailable with the reason, where the system gives no overlay. Thread-safety: all of it
// may be called from many threads, each with a node of its own.

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

// What programs of a research run look up beside the folders of the jail: other compilers, fonts
// and TeX, MPI's settings, and what the probe reads. Absent ones are left out.
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

// To whom a node's files belong: the user, or the owner of a workspace that root works in.
struct FileOwner {
  uid_t uid;
  gid_t gid;
};
Result<FileOwner> OwnerOf(const std::string& path);

class SystemLayers {
 public:
  // Absolute; made when it is needed. "": there are no layers.
  explicit SystemLayers(std::string folder) : folder_(std::move(folder)) {}

  // Makes the skeleton (some tenths of a second), unless this run has one of this host's system.
  // Later calls return what the first one did.
  Status Prepare(FileOwner owner);

  // The node's own layer, empty unless it is there from before. `kFresh`: it held nothing, or
  // another system's; then whatever was installed has to be installed again.
  enum class Found : std::uint8_t { kKept, kFresh };
  Result<Found> Open(const std::string& node, FileOwner owner) const;

  // Makes the work folders anew. After Open.
  Result<std::vector<sandbox::JailOverlay>> Writable(const std::string& node,
                                                     FileOwner owner) const;

  // The folders in which the node changed something, and those below them; none if it changed
  // nothing, so that it costs nothing.
  std::vector<sandbox::JailOverlay> ReadOnly(const std::string& node) const;

  // Which files a command would need are not in the skeleton, in a sentence; "": all are. After
  // Prepare, which tells it to the one that makes the skeleton.
  const std::string& left_out() const { return left_out_; }

 private:
  Status Make(FileOwner owner);

  const std::string folder_;
  std::mutex mutex_;
  std::optional<Status> made_;
  std::string left_out_;
};

// Lets `node` use what `base` installed, for phases after the first.
Status LinkSystem(const std::string& base, const std::string& node);

// Variables of commands that change the system, "NAME=value": the folders of an administrator's
// programs, no questions asked.
std::vector<std::string> InstallEnvironment(std::string_view path);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_SYSTEM_LAYERS_H_
