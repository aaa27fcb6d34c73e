// The boundary that fences data in all prompts of one project, drawn once (ASM-4).
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string boundary, ProjectBoundary("."));
//
// Kept in the project's state folder, mode 0600, so that provider caches hold from run to run.
// Thread-safety: processes that start together agree on one.

#ifndef DOSSIER_CLI_PROJECT_BOUNDARY_H_
#define DOSSIER_CLI_PROJECT_BOUNDARY_H_

#include <string>

#include "base/result.h"

namespace dossier::cli {

// 32 hex digits, in dossier/boundary below the git folder that holds `folder`; without one in the
// user's data folder, under the hash of the path. A damaged file is drawn anew.
// Errors: kIo, kPermission.
Result<std::string> ProjectBoundary(const std::string& folder);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_PROJECT_BOUNDARY_H_
