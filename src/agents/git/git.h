// Runs git for this room by way of base/process/git_call.h, so that no program but git runs,
// whatever the repository's settings say.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Git git, Git::Open(*FindGitFolders(".")));
//   DOSSIER_ASSIGN_OR_RETURN(const std::string commit,
//                            git.AskLine(git.Objects(), {"rev-parse", "refs/heads/main"}));
//
// A call says where git works: which git folder, which work tree, which index. Nothing is looked up
// from the working folder, so an engine's `.git` file leads nowhere.
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
  std::string work_tree;  // GIT_WORK_TREE and the working folder; empty: none, the root folder
  std::string index;      // GIT_INDEX_FILE, an index of ours alone; empty: the one of `git_dir`
};

struct GitCommand {
  std::vector<std::string> arguments;
  std::string input;                     // on stdin; empty: /dev/null
  std::vector<std::string> environment;  // further variables, "NAME=value"
  std::size_t max_output = 64 << 20;     // bytes kept of stdout and stderr each
  GitCall::Starts starts = GitCall::Starts::kNothing;
};

struct GitOptions {
  std::string program = "git";  // a path or a name on PATH; tests count and break calls with it
  Millis timeout{600'000};      // of one call
};

class Git {
 public:
  // `folders`: the work tree that the user stands in; it may be empty but for `common`.
  // Errors: kFailed, if git is missing, too old (2.38 brought `merge-tree --write-tree`) or refuses
  // the repository, with its reason.
  static Result<Git> Open(GitFolders folders, GitOptions options = {},
                          const CancelToken& cancel = {});

  // As this, with a variable more in the environment of each call.
  Git With(std::string variable) const;

  // Any exit code is a result. Errors: kTimeout, kCancelled, kNotFound, kIo.
  Result<ProcessResult> Run(const GitPlace& place, const GitCommand& call,
                            const CancelToken& cancel = {}) const;
  // Stdout. Errors: as Run; kFailed if git exits with other than 0, with its complaint.
  Result<std::string> Ask(const GitPlace& place, const GitCommand& call,
                          const CancelToken& cancel = {}) const;
  // As Ask, without the line break at the end.
  Result<std::string> AskLine(const GitPlace& place, std::vector<std::string> arguments,
                              const CancelToken& cancel = {}) const;

  // What Run starts, for callers that talk to git while it runs. Errors: as PlanGitCall.
  Result<ProcessSpec> Plan(const GitPlace& place, const GitCommand& call) const;
  // Names of all filters that git knows in `place`. They do not run. Errors: as PlanGitCall.
  Result<std::vector<std::string>> Filters(const GitPlace& place) const;

  const GitFolders& folders() const { return folders_; }
  // Objects and refs only: no work tree, no index, and so no attributes but the repository's own.
  GitPlace Objects() const;
  // The repository as it is, for `git worktree`.
  GitPlace Common() const { return {.git_dir = folders_.common}; }

 private:
  Git(GitFolders folders, GitOptions options);
  GitCall CallOf(const GitPlace& place, const GitCommand& call) const;

  GitFolders folders_;
  GitOptions options_;
  std::vector<std::string> environment_;  // of each call, besides what CallGit gives
};

// Git's error message as one line: its first "fatal:" or "error:" line, without that word.
std::string GitComplaint(const ProcessResult& result);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_GIT_H_
