// Removes a folder that a hostile program filled: without following links, and through folders
// that it made unreadable or read-only.
//
//   DOSSIER_RETURN_IF_ERROR(RemoveTree(worktree_path));
//
// Thread-safety: a function over files.

#ifndef DOSSIER_AGENTS_GIT_TREE_REMOVAL_H_
#define DOSSIER_AGENTS_GIT_TREE_REMOVAL_H_

#include <string>

#include "base/result.h"

namespace dossier::agents {

// Absent is success. Errors: kIo, kPermission, with the path.
Status RemoveTree(const std::string& path);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_TREE_REMOVAL_H_
