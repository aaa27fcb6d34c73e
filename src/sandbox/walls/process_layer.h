// What the `process` and `cgroup` layers of every isolated process have in common.
//
//   DOSSIER_RETURN_IF_ERROR(CloseOtherDescriptors({bridge_fd}));
//   report.Set("cgroup", LayerState::kUnavailable, CgroupReason());
//
// Thread-safety: CloseOtherDescriptors changes the calling process.

#ifndef DOSSIER_SANDBOX_WALLS_PROCESS_LAYER_H_
#define DOSSIER_SANDBOX_WALLS_PROCESS_LAYER_H_

#include <string>
#include <vector>

#include "base/result.h"

namespace dossier::sandbox {

// Closes everything but 0, 1, 2 and `keep`; negative numbers in it are ignored. Errors: kIo.
Status CloseOtherDescriptors(std::vector<int> keep);

// The reason why the sandbox uses no cgroup, for the report. A delegated cgroup is only mentioned:
// the other layers bound memory and threads already.
std::string CgroupReason();

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_PROCESS_LAYER_H_
