// A worktree for one engine: a full checkout of one commit, detached, deleted after its task.
//
//   const WorktreeSpec spec{.path = WorktreePath(git, run, 1, Role::kEngineer), .commit = base,
//                           .run = run};
//   DOSSIER_ASSIGN_OR_RETURN(Worktree worktree, Worktree::Make(git, state, spec));
//   DOSSIER_RETURN_IF_ERROR(worktree.ResetAgentFolder());
//   … the engine works in worktree.path() …                  // gone with `worktree`
//
// Its git folder (`admin`) is a separate repository beside it that borrows objects from the real
// one: the engine may commit, branch, fetch and break things there. The real repository does not
// know it. What an engine can write to (the `.git` file, its git folder, the index) is never read
// again: a copy of the index after checkout is kept in STATE, and removal uses the recorded paths.
//
// Ownership: the object owns the folder and its admin folder, and removes both, unless Keep was
// called. Thread-safety: one owner; many worktrees may be made concurrently.

#ifndef DOSSIER_AGENTS_GIT_WORKTREE_H_
#define DOSSIER_AGENTS_GIT_WORKTREE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agents/git/git.h"
#include "agents/git/state_folder.h"
#include "base/result.h"

namespace dossier::agents {

enum class Role : std::uint8_t { kEngineer, kReviewer };

struct WorktreeSpec {
  std::string path;    // absolute; leftovers of a killed run are removed first
  std::string commit;  // to check out: base or candidate
  std::string run;     // the run that keeps the record
};

// Returns CACHE/dossier/worktrees/REPOSITORY/RUN/w<number>[-review]. Errors: kConfig (no HOME).
Result<std::string> WorktreePath(const Git& git, std::string_view run, int number, Role role);

class Worktree {
 public:
  // Errors: kFailed with git's message, kIo, kCancelled.
  static Result<Worktree> Make(const Git& git, const StateFolder& state, const WorktreeSpec& spec,
                               const CancelToken& cancel = {});
  Worktree(Worktree&& other) noexcept;
  Worktree& operator=(Worktree&&) = delete;
  ~Worktree();

  const std::string& path() const { return path_; }
  const std::string& admin() const { return admin_; }  // PATH.git
  const std::string& commit() const { return commit_; }
  const std::string& tree() const { return tree_; }    // of `commit`
  const std::string& index() const { return index_; }  // copy made after the checkout; in STATE

  // Makes `.agent/` an empty folder, whatever it contained, including tracked files.
  Status ResetAgentFolder() const;
  // Returns true if the `.git` file is as git wrote it; otherwise restores it and returns false.
  Result<bool> HadOwnGitFile() const;

  Status Remove();
  void Keep() { owned_ = false; }  // --keep-worktrees

 private:
  Worktree() = default;
  Status WriteRecord() const;

  std::string path_, admin_, commit_, tree_, index_, record_, git_file_;
  bool owned_ = true;
};

// Returns the folders of the objects that a worktree borrows: the repository's, and those that it
// borrows itself.
std::vector<std::string> ObjectFolders(const std::string& common);

// Removes the worktrees recorded for `run`, which a killed run left. Errors: the first that could
// not be removed; the others are removed.
Status RemoveRecordedWorktrees(const StateFolder& state, std::string_view run);

// Copies an index with its modification time: git compares that with the times of the entries to
// decide which of them it cannot trust.
Status CopyIndex(const std::string& from, const std::string& to);

// Removes a folder with hostile contents: does not follow links, and handles subfolders made
// unreadable or read-only.
//
//   DOSSIER_RETURN_IF_ERROR(RemoveTree(worktree_path));
//
// Thread-safety: a function over files.

// A missing folder is success. Errors: kIo, kPermission, with the path.
Status RemoveTree(const std::string& path);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_WORKTREE_H_
