// Where the repository of a folder is, found from files alone: no program is run.
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
  std::string git;     // its own git folder: ROOT/.git, or what the file ROOT/.git names
  std::string common;  // the repository's git folder; other than `git` in a linked work tree
};

// The nearest work tree that holds `folder`. A `.git` that is no repository is passed over, as git
// does, and so is one that leads out of the work tree to a repository that does not point back.
std::optional<GitFolders> FindGitFolders(const std::string& folder);

// The folders of the repository whose git folder is `git`; the root is left empty.
std::optional<GitFolders> GitFoldersAt(const std::string& git);

// Whether git can be called there: it opens what it finds, and waits for ever at a pipe or a device
// in place of one of its files. Looks at the settings, the index, references, packs, borrowed
// objects, and at the files of the root that git reads; single objects are not looked at. A
// reference must be no link out of the repository. Errors: kRefused, naming the file.
Status CheckGitFiles(const GitFolders& folders);
// The same for one path: what is not there passes, so do a folder and /dev/null.
Status CheckGitFile(const std::string& path);

// Why `folder` has no work tree, as a sentence: it is in no repository, in a bare one, or its
// `.git` leads to another's.
std::string NoWorkTree(const std::string& folder);

// True if `folder` is the root of a work tree itself.
bool IsWorkTree(const std::string& folder);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_GIT_FOLDERS_H_
