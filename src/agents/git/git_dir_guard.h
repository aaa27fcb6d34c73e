// Detects and undoes changes that an engine must not make in the repository's git folder: `config`,
// `hooks/`, `info/`, `objects/info/alternates`, refs under `refs/dossier/`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto guard, GitDirGuard::Take(git, run, state.Undone(run)));
//   … an engine runs …
//   DOSSIER_ASSIGN_OR_RETURN(const GuardReport report, guard->Check());
//   if (!report.foreign.empty()) Refuse("git-dir", report.foreign);
//
// Files are compared with their state when the guard was taken, and restored before git runs again.
// Who changed them is not known, and may be the person who works beside the run: so what a file
// held is moved to a folder of the run, never deleted. A guard belongs to one run and knows the
// refs that the run wrote. Other runs' refs may come and go; only those that moved are foreign.
// `info/refs` is left out: git writes it when it packs, and never reads it.
//
// Thread-safety: all methods may be called from many threads.

#ifndef DOSSIER_AGENTS_GIT_GIT_DIR_GUARD_H_
#define DOSSIER_AGENTS_GIT_GIT_DIR_GUARD_H_

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agents/git/git.h"

namespace dossier::agents {

// A change that was undone.
struct ForeignChange {
  std::string path;  // "config", "hooks/pre-commit", "refs/dossier/…"
  std::string kept;  // where the file or folder that was found there is now; empty: there was none
};

struct GuardReport {
  std::vector<ForeignChange> foreign;
  std::vector<std::string> moved_branches;  // "refs/heads/…", since the last check; not undone
};

class GitDirGuard {
 public:
  // What is undone is kept below the folder `undone`, which is made when it is needed and must lie
  // on the file system of the git folder. Errors: kFailed (git), kIo; kLimit for more than 32 MiB
  // or 10,000 watched files.
  static Result<std::unique_ptr<GitDirGuard>> Take(const Git& git, std::string_view run,
                                                   std::string undone,
                                                   const CancelToken& cancel = {});

  // Compares, and undoes foreign changes. Errors: kFailed, kIo.
  Result<GuardReport> Check(const CancelToken& cancel = {});

  // Makes `name` (under refs/dossier/RUN/) point to `commit`. Errors: kFailed.
  Status WriteRef(const std::string& name, const std::string& commit);
  // Announces that a merge of this run will move `branch` to `commit`, so that Check does not
  // report it.
  void Expect(const std::string& branch, const std::string& commit);

 private:
  struct Entry {
    unsigned mode = 0;    // st_mode
    std::string content;  // a file's content, or a link's target
    bool operator==(const Entry&) const = default;
  };
  using Entries = std::map<std::string, Entry>;
  using Refs = std::map<std::string, std::string>;

  GitDirGuard(const Git& git, std::string_view run, std::string undone);
  Entries ReadEntries() const;
  Result<Refs> ReadRefs(const CancelToken& cancel) const;
  Result<std::string> Keep(const std::string& path, const std::string& folder) const;
  Result<ForeignChange> Undo(const std::string& path, const Entry* was,
                             const std::string& folder) const;
  std::string FreeFolder() const;
  Status CompareFiles(GuardReport* report) const;
  Status CompareRefs(const CancelToken& cancel, GuardReport* report);
  bool IsAllowed(const std::string& name, const std::string& commit) const;
  std::string JudgeRefs(const Refs& now, GuardReport* report) const;
  std::vector<std::string> MovedBranches(const Refs& now) const;

  const Git git_;
  const std::string own_;  // "refs/dossier/RUN/"
  const std::string undone_;
  std::mutex mutex_;
  Entries entries_;
  Refs refs_;  // the refs that are allowed
  std::map<std::string, std::set<std::string>> expected_;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_GIT_DIR_GUARD_H_
