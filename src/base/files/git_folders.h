// Where the repository of a folder is, found from files alone: no program is run.
//
//   if (const auto git = FindGitFolders("src/base")) Use(git->root, git->common);
//
// Thread-safety: functions over files that are only read.

#ifndef DOSSIER_BASE_FILES_GIT_FOLDERS_H_
#define DOSSIER_BASE_FILES_GIT_FOLDERS_H_

#include <optional>
#include <string>

namespace dossier {

// Absolute paths without symbolic links.
struct GitFolders {
  std::string root;    // of the work tree
  std::string git;     // its own git folder: ROOT/.git, or what the file ROOT/.git names
  std::string common;  // the repository's git folder; other than `git` in a linked work tree
};

// The nearest work tree that holds `folder`. A `.git` that is no repository is passed over, as git
// does.
std::optional<GitFolders> FindGitFolders(const std::string& folder);

// Why `folder` has no work tree, as a sentence: it is in no repository, or in a bare one.
std::string NoWorkTree(const std::string& folder);

// True if `folder` is the root of a work tree itself.
bool IsWorkTree(const std::string& folder);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_GIT_FOLDERS_H_
