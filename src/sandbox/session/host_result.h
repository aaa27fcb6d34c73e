// From what a worker reports of a block to what the host hands on.
//
//   DOSSIER_ASSIGN_OR_RETURN(BlockResult result, ReadBlockResult(std::move(outcome), limits));
//
// All texts of the result are valid UTF-8. Thread-safety: pure functions.

#ifndef DOSSIER_SANDBOX_SESSION_HOST_RESULT_H_
#define DOSSIER_SANDBOX_SESSION_HOST_RESULT_H_

#include <string>
#include <vector>

#include "sandbox/session/host_block.h"

namespace dossier::sandbox {

// For an outcome that ended with `done`. Errors: kProtocol for values of the wrong kind.
Result<BlockResult> ReadBlockResult(BlockOutcome outcome, const Limits& limits);

Result<CheckResult> ReadCheckResult(const Message& checked);

// The strings of a list; anything else in it is left out.
std::vector<std::string> StringList(const Json* list);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_HOST_RESULT_H_
