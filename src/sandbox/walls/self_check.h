// The self test of the walls: a locked child tries what must not work.
//
//   DOSSIER_ASSIGN_OR_RETURN(SelfTest test, SelfTest::Start(plan));   // in the zygote
//   … other work …
//   DOSSIER_RETURN_IF_ERROR(test.Finish());                           // before the first session
//
// Thread-safety: forks; call it while the process has one thread.

#ifndef DOSSIER_SANDBOX_WALLS_SELF_CHECK_H_
#define DOSSIER_SANDBOX_WALLS_SELF_CHECK_H_

#include "base/files/file.h"
#include "sandbox/walls/isolation.h"

namespace dossier::sandbox {

class SelfTest {
 public:
  // Forks the child that tries. Errors: kUnavailable.
  static Result<SelfTest> Start(IsolationPlan& plan);
  SelfTest(SelfTest&&) noexcept = default;

  // Waits for its end. Errors: kUnavailable. "sandbox: the self test opened /etc/passwd although …"
  // for an attempt that succeeded although an applied layer refuses it; what LockSession said if
  // strict lacks a layer.
  Status Finish();

 private:
  SelfTest(pid_t pid, UniqueFd answer) : pid_(pid), answer_(std::move(answer)) {}

  pid_t pid_;
  UniqueFd answer_;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_SELF_CHECK_H_
