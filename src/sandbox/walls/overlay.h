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

#ifndef DOSSIER_SANDBOX_WALLS_OVERLAY_H_
#define DOSSIER_SANDBOX_WALLS_OVERLAY_H_

#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"

namespace dossier::sandbox {

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

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_OVERLAY_H_
