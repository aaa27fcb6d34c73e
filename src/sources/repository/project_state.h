// What a project keeps from run to run: its boundary, its order of files.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string folder, ProjectStateFolder("."));
//   DOSSIER_ASSIGN_OR_RETURN(std::string id, ProjectBoundary(folder));
//
// Thread-safety: several processes may call these at once; all get the same boundary.

#ifndef DOSSIER_SOURCES_REPOSITORY_PROJECT_STATE_H_
#define DOSSIER_SOURCES_REPOSITORY_PROJECT_STATE_H_

#include <string>

#include "base/result.h"

namespace dossier::sources {

// COMMON GIT FOLDER/dossier of the repository that holds `path`; elsewhere a folder of the user's,
// named by `path`. It need not exist.
Result<std::string> ProjectStateFolder(const std::string& path);

// The 32 hex digits kept in `state_folder`, drawn and written (mode 0600) where there are none or
// the file is damaged. Errors: kIo, kPermission (it cannot be kept).
Result<std::string> ProjectBoundary(const std::string& state_folder);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_REPOSITORY_PROJECT_STATE_H_
