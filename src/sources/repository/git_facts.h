// What git knows about a work tree: what is in the index, what changed, who changed with whom.
//
//   const auto git = FindGitFolders("src");
//   const GitFacts facts = ReadGitFacts(*git, cancel);
//   if (!facts.problem.empty()) Warn(facts.problem);      // and go on without
//
// Calls git by base/process/git_call.h, and asks only what needs no file of the work tree to be
// read. Whether a file differs from the index is for the caller to see, by GitBlobName.
//
// Thread-safety: a function over its arguments; the result is plain data.

#ifndef DOSSIER_SOURCES_REPOSITORY_GIT_FACTS_H_
#define DOSSIER_SOURCES_REPOSITORY_GIT_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/cancel.h"
#include "base/files/git_folders.h"
#include "base/files/glob.h"
#include "base/hash.h"
#include "base/result.h"

namespace dossier::sources {

// What a project keeps from run to run: its boundary, its order of files.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string folder, ProjectStateFolder("."));
//   DOSSIER_ASSIGN_OR_RETURN(std::string id, ProjectBoundary(folder));
//
// Thread-safety: several processes may call these at once; all get the same boundary.

// COMMON GIT FOLDER/dossier of the repository that holds `path`; elsewhere a folder of the user's,
// named by `path`. It need not exist.
Result<std::string> ProjectStateFolder(const std::string& path);

// The 32 hex digits kept in `state_folder`, drawn and written (mode 0600) where there are none or
// the file is damaged. Errors: kIo, kPermission (it cannot be kept).
Result<std::string> ProjectBoundary(const std::string& state_folder);

// Paths are from the root of the work tree, as bytes.
struct GitFacts {
  std::unordered_map<std::string, std::string> index;  // regular files: the name of the blob
  std::unordered_set<std::string> staged;              // the index differs from HEAD
  // The last commit that touched a file: 0 is the newest. Only the newest 1,000 are read.
  std::unordered_map<std::string, std::uint32_t> last_commit;
  std::vector<std::vector<std::string>> commits;          // newest first: what each touched
  std::optional<std::string> global_ignore_file;          // core.excludesFile
  CaseSensitivity letters = CaseSensitivity::kSensitive;  // core.ignorecase
  GitHash hash = GitHash::kSha1;
  std::string problem;  // why nothing is known: git is missing, or refuses; one sentence
};

GitFacts ReadGitFacts(const GitFolders& folders, const CancelToken& cancel);

// True if the file `path` with `content` is as in HEAD.
bool IsUnchanged(const GitFacts& facts, const std::string& path, std::string_view content);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_REPOSITORY_GIT_FACTS_H_
