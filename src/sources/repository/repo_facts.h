// Where a repository stands: branch, commit, and what `--with` asks for.
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
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/files/git_folders.h"
#include "base/process/process.h"

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

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_REPOSITORY_REPO_FACTS_H_
