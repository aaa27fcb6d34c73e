// Finds the repository of a folder from files alone: no program is run.
//
//   if (const auto git = FindGitFolders("src/base")) Use(git->root, git->common);
//
// Thread-safety: functions over files that are only read.

#ifndef DOSSIER_BASE_FILES_GIT_FOLDERS_H_
#define DOSSIER_BASE_FILES_GIT_FOLDERS_H_

#include <optional>
#include <string>

#include "base/result.h"

namespace dossier {

// Absolute paths without symbolic links.
struct GitFolders {
  std::string root;    // of the work tree
  std::string git;     // its git folder: ROOT/.git, or the target that the file ROOT/.git names
  std::string common;  // the repository's git folder; differs from `git` in a linked work tree
};

// Finds the nearest work tree that contains `folder`. Skips a `.git` that is no repository, as git
// does, and one that leads out of the work tree to a repository that does not point back.
std::optional<GitFolders> FindGitFolders(const std::string& folder);

// The folders of the repository whose git folder is `git`; the root is left empty.
std::optional<GitFolders> GitFoldersAt(const std::string& git);

// Checks that git can be called there: git opens the files it finds, and waits for ever if one is a
// pipe or a device. Checks the settings, the index, references and their logs, packs, borrowed
// objects, and the files of the root that git reads, but not single objects. A reference must not
// be a link out of the repository. Errors: kRefused, naming the file.
Status CheckGitFiles(const GitFolders& folders);
// The same for one path: a missing path, a folder and /dev/null pass.
Status CheckGitFile(const std::string& path);

// Explains in a sentence why `folder` has no work tree: it is in no repository, in a bare one, or
// its `.git` leads to another's.
std::string NoWorkTree(const std::string& folder);

// True if `folder` is the root of a work tree itself.
bool IsWorkTree(const std::string& folder);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_GIT_FOLDERS_H_
