// Runs git for this room through base/process/git_call.h, so that no program but git runs, whatever
// the repository's settings are.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Git git, Git::Open(*FindGitFolders(".")));
//   DOSSIER_ASSIGN_OR_RETURN(const std::string commit,
//                            git.AskLine(git.Objects(), {"rev-parse", "refs/heads/main"}));
//
// Each call names its git folder, work tree and index. Nothing is derived from the working folder,
// so an engine's `.git` file has no effect.
//
// Thread-safety: immutable after construction; calls may run in many threads.

#ifndef DOSSIER_AGENTS_GIT_GIT_H_
#define DOSSIER_AGENTS_GIT_GIT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/files/git_folders.h"
#include "base/process/git_call.h"
#include "base/process/process.h"
#include "base/result.h"

namespace dossier::agents {

// Absolute paths.
struct GitPlace {
  std::string git_dir;    // GIT_DIR
  std::string work_tree;  // GIT_WORK_TREE and working folder; empty: none, runs in /
  std::string index;      // GIT_INDEX_FILE, an index used only by us; empty: the one of `git_dir`
};

struct GitCommand {
  std::vector<std::string> arguments;
  std::string input;                     // on stdin; empty: /dev/null
  std::vector<std::string> environment;  // further variables, "NAME=value"
  std::size_t max_output = 64 << 20;     // bytes kept of stdout and of stderr
  GitCall::Starts starts = GitCall::Starts::kNothing;
};

struct GitOptions {
  std::string program = "git";  // a path or a name on PATH; tests count and break calls with it
  Millis timeout{600'000};      // per call
};

class Git {
 public:
  // `folders`: the user's current work tree; all but `common` may be empty. Errors: kFailed if git
  // is missing, too old (2.38 introduced `merge-tree --write-tree`) or refuses the repository, with
  // its reason.
  static Result<Git> Open(GitFolders folders, GitOptions options = {},
                          const CancelToken& cancel = {});

  // Returns a copy with one more variable in the environment of each call.
  Git With(std::string variable) const;

  // Runs git; any exit code is a result. Errors: kTimeout, kCancelled, kNotFound, kIo.
  Result<ProcessResult> Run(const GitPlace& place, const GitCommand& call,
                            const CancelToken& cancel = {}) const;
  // Returns stdout. Errors: as Run; kFailed with git's message if its exit code is not 0.
  Result<std::string> Ask(const GitPlace& place, const GitCommand& call,
                          const CancelToken& cancel = {}) const;
  // As Ask, without the final line break.
  Result<std::string> AskLine(const GitPlace& place, std::vector<std::string> arguments,
                              const CancelToken& cancel = {}) const;

  // Returns what Run starts, for callers that talk to git while it runs. Errors: as PlanGitCall.
  Result<ProcessSpec> Plan(const GitPlace& place, const GitCommand& call) const;
  // Returns all filter names that git knows in `place`; runs none. Errors: as PlanGitCall.
  Result<std::vector<std::string>> Filters(const GitPlace& place) const;

  const GitFolders& folders() const { return folders_; }
  // Objects and refs only: no work tree, no index, and so only the repository's own attributes.
  GitPlace Objects() const;
  // The repository itself, for `git worktree`.
  GitPlace Common() const { return {.git_dir = folders_.common}; }

 private:
  Git(GitFolders folders, GitOptions options);
  GitCall CallOf(const GitPlace& place, const GitCommand& call) const;

  GitFolders folders_;
  GitOptions options_;
  std::vector<std::string> environment_;  // for each call, besides what CallGit adds
};

// Returns git's error message as one line: its first "fatal:" or "error:" line, without that word.
std::string GitComplaint(const ProcessResult& result);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_GIT_H_
