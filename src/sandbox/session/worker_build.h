// Which build of the worker sessions run in, for reports that must name it.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string build, WorkerBuild({}));   // "705460f34c82…"
//
// Thread-safety: reads files only.

#ifndef DOSSIER_SANDBOX_SESSION_WORKER_BUILD_H_
#define DOSSIER_SANDBOX_SESSION_WORKER_BUILD_H_

#include <string>

#include "sandbox/session/session.h"

namespace dossier::sandbox {

// As base/process/build_info.h, of the worker that a pool with these options starts. Errors:
// kUnavailable (no worker is there), kDamaged.
Result<std::string> WorkerBuild(const PoolOptions& options);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_WORKER_BUILD_H_
