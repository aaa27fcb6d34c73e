// The state of a repository: branch, commit, and what `--with` asks for.
//
//   RepoWatch watch(".");
//   const RepoFacts facts = watch.Get();     // facts.branch "main", facts.head "0123456"
//
// Branch and commit are remembered as long as nothing moved: not HEAD, not the branch, not the
// packed references, not the index. A header over an unmoved HEAD starts no git.
// Thread-safety: RepoWatch may be used from many threads.

#ifndef DOSSIER_SOURCES_REPOSITORY_REPO_FACTS_H_
#define DOSSIER_SOURCES_REPOSITORY_REPO_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/files/git_folders.h"
#include "base/files/glob.h"
#include "base/hash.h"
#include "base/process/process.h"
#include "base/result.h"

namespace dossier::sources {

struct Upstream {
  std::uint64_t ahead = 0, behind = 0;  // commits

  bool operator==(const Upstream&) const = default;
};

struct RepoFacts {
  std::string branch = "HEAD";  // without refs/heads/; "HEAD" if detached or unknown
  std::string head = "HEAD";    // as `git rev-parse --short HEAD`; "HEAD" if there is no commit
  std::string problem;          // why they are unknown, as a sentence; no commit yet is none

  // Filled where RepoQuery asks for them.
  std::optional<bool> dirty;
  std::optional<Upstream> upstream;
  std::vector<std::string> commits;  // subjects, newest first, at most 5
  std::vector<std::string> changed;  // changed and untracked paths, from the root

  bool operator==(const RepoFacts&) const = default;
};

// What costs a git process each time, because it can change without a trace.
struct RepoQuery {
  bool dirty = false;
  bool changed = false;  // and dirty
  bool upstream = false;
  bool commits = false;
};

// The root of the work tree that holds `folder`: the nearest folder with `.git`, else `folder`
// itself, absolute.
std::string RepoRoot(const std::string& folder);

class RepoWatch {
 public:
  // `folder` may be anywhere in the work tree.
  explicit RepoWatch(const std::string& folder, CancelToken cancel = {},
                     Millis timeout = Millis(10'000));

  RepoFacts Get(const RepoQuery& query = {});

  // The root of the work tree: the nearest folder with `.git`, else the folder itself.
  const std::string& root() const { return root_; }
  std::size_t git_starts() const;  // so far

 private:
  std::string StateKey() const;
  void ReadBranch(RepoFacts* facts) const;
  void ReadHead(RepoFacts* facts);
  void ReadStatus(const RepoQuery& query, RepoFacts* facts);
  void ReadUpstream(RepoFacts* facts);
  void ReadCommits(RepoFacts* facts);
  struct Answer;
  Answer Ask(std::vector<std::string> arguments);

  std::string root_;
  std::optional<GitFolders> git_;
  CancelToken cancel_;
  Millis timeout_;
  mutable std::mutex mutex_;
  std::string key_;  // of `known_`
  std::optional<RepoFacts> known_;
  std::size_t git_starts_ = 0;
  std::string hung_;  // why git is not asked again by this Get; empty: it is
};

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

#endif  // DOSSIER_SOURCES_REPOSITORY_REPO_FACTS_H_
