// The self test of the walls (SBX-12): a locked child tries what must not work.
//
//   DOSSIER_RETURN_IF_ERROR(RunSelfTest(plan));   // in the zygote, before the first session
//
// Thread-safety: forks; call it while the process has one thread.

#ifndef DOSSIER_SANDBOX_SELF_CHECK_H_
#define DOSSIER_SANDBOX_SELF_CHECK_H_

#include "sandbox/isolation.h"

namespace dossier::sandbox {

// Errors: kUnavailable. "sandbox: the self test opened /etc/passwd although …" for an attempt that
// succeeded although an applied layer refuses it; what LockSession said if strict lacks a layer.
Status RunSelfTest(IsolationPlan& plan);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SELF_CHECK_H_
