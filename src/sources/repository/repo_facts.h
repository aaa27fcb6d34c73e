// Reads the state of a repository: branch, commit, and what `--with` asks for.
//
//   RepoWatch watch(".");
//   const RepoFacts facts = watch.Get();     // facts.branch "main", facts.head "0123456"
//
// Branch and commit are cached while HEAD, the branch, the packed references and the index are
// unchanged; then a header starts no git process.
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
  std::string problem;  // a sentence why they are unknown; having no commit yet is no problem

  // Filled in if RepoQuery asks for them.
  std::optional<bool> dirty;
  std::optional<Upstream> upstream;
  std::vector<std::string> commits;  // subjects, newest first, at most 5
  std::vector<std::string> changed;  // changed and untracked paths, relative to the root

  bool operator==(const RepoFacts&) const = default;
};

// Facts that cost a git process each time, because they can change without a trace.
struct RepoQuery {
  bool dirty = false;
  bool changed = false;  // implies dirty
  bool upstream = false;
  bool commits = false;
};

// Returns the absolute root of the work tree that contains `folder`: the nearest folder with
// `.git`, else `folder` itself.
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
  std::string key_;  // key of `known_`
  std::optional<RepoFacts> known_;
  std::size_t git_starts_ = 0;
  std::string hung_;  // why this Get asks git no more; empty: it may ask
};

// What git knows about a work tree: the index, the changes, and which files change together.
//
//   const auto git = FindGitFolders("src");
//   const GitFacts facts = ReadGitFacts(*git, cancel);
//   if (!facts.problem.empty()) Warn(facts.problem);      // and continue without them
//
// Calls git through base/process/git_call.h, and requests only what needs no reading of files. The
// caller compares files with the index by GitBlobName.
//
// Thread-safety: a function over its arguments; the result is plain data.

// The state that a project keeps from run to run: its boundary and its order of files.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string folder, ProjectStateFolder("."));
//   DOSSIER_ASSIGN_OR_RETURN(std::string id, ProjectBoundary(folder));
//
// Thread-safety: several processes may call these at once; all get the same boundary.

// Returns COMMON GIT FOLDER/dossier for the repository that contains `path`; elsewhere a folder in
// the user's state, named after `path`. It need not exist.
Result<std::string> ProjectStateFolder(const std::string& path);

// Returns the 32 hex digits stored in `state_folder`. If there are none or the file is damaged,
// draws them at random and writes them (mode 0600). Errors: kIo, kPermission (cannot be stored).
Result<std::string> ProjectBoundary(const std::string& state_folder);

// Paths are byte strings, relative to the root of the work tree.
struct GitFacts {
  std::unordered_map<std::string, std::string> index;  // regular files: name of the blob
  std::unordered_set<std::string> staged;              // files whose index entry differs from HEAD
  // By file, its last commit; 0 is the newest. Only the newest 1,000 commits are read.
  std::unordered_map<std::string, std::uint32_t> last_commit;
  std::vector<std::vector<std::string>> commits;          // newest first: the files each changed
  std::optional<std::string> global_ignore_file;          // core.excludesFile
  CaseSensitivity letters = CaseSensitivity::kSensitive;  // core.ignorecase
  GitHash hash = GitHash::kSha1;
  std::string problem;  // one sentence if git is missing or refuses; then nothing is known
};

GitFacts ReadGitFacts(const GitFolders& folders, const CancelToken& cancel);

// Returns true if the file `path` with `content` is the same as in HEAD.
bool IsUnchanged(const GitFacts& facts, const std::string& path, std::string_view content);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_REPOSITORY_REPO_FACTS_H_
