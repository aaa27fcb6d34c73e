// The only way to call git: no program but git runs, whatever the repository's settings say.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ProcessResult head,
//                            CallGit({.folder = root, .arguments = {"rev-parse", "HEAD"}}));
//   if (head.exit_code == 0) Use(head.out);
//
// A foreign repository may name programs in its `config`, in files that it includes, in `hooks/`
// and in attributes. A call uses the settings of the repository, the user and the system as git
// reads them, and overrides each one that starts a program, wherever it is set: hooks, monitors,
// filters, merge drivers, pagers, editors, credential helpers, signature programs, transports.
// Content is taken as it is stored. No setting disables text conversions and external diffs: calls
// that print a diff pass --no-ext-diff and --no-textconv. No GIT_… variable of ours reaches git,
// objects are neither replaced nor fetched, and git never prompts.
//
// Thread-safety: reads the environment; must not run beside setenv.

#ifndef DOSSIER_BASE_PROCESS_GIT_CALL_H_
#define DOSSIER_BASE_PROCESS_GIT_CALL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/process/process.h"
#include "base/result.h"

namespace dossier {

// Paths are absolute.
struct GitCall {
  std::string program = "git";           // a path, or a name on PATH
  std::string folder = "/";              // where git starts and looks for a repository
  std::string git_dir;                   // GIT_DIR; empty: git looks for it
  std::string work_tree;                 // GIT_WORK_TREE; empty: git looks for it
  std::string index;                     // GIT_INDEX_FILE, an own index; empty: git's
  std::vector<std::string> arguments;    // without "git"
  std::vector<std::string> environment;  // further variables, "NAME=value"
  std::string input;                     // on stdin; empty: /dev/null
  std::size_t max_output = 16 << 20;     // bytes kept of stdout and stderr each
  Millis timeout{10'000};
  // The programs that this call may start besides git.
  enum class Starts : std::uint8_t {
    kNothing,
    kTransport,  // ssh and git's own helpers, for a clone that the user asked for
    kSigner,     // the program that signs, as the user or the system has set it
  } starts = Starts::kNothing;
};

// A git setting: its key, such as "filter.LFS.clean", and its value.
using GitSetting = std::pair<std::string, std::string>;

// Runs git. A non-zero exit is no error; if git cannot read the repository's settings, the result
// is git's own error message. Errors: kNotFound (git is not installed), kCancelled, kIo, kLimit
// (more settings to override than fit into an environment), kRefused (one of git's files, or a file
// named by the settings, is a pipe or device at which git would wait; git is not called).
Result<ProcessResult> CallGit(const GitCall& call, const CancelToken& cancel = {});

// The process that CallGit would start, for callers that talk to git while it runs. Errors: as
// CallGit; kFailed with git's error message.
Result<ProcessSpec> PlanGitCall(const GitCall& call, const CancelToken& cancel = {});

// Calls `use` with each NUL-terminated piece of git's output.
template <typename Use>
void ForEachAtNul(std::string_view text, Use use) {
  for (std::size_t end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
    use(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
}

// Returns the names of the filters set in the repository of `call`, by the user or by the system.
// Errors: as PlanGitCall.
Result<std::vector<std::string>> GitFilters(const GitCall& call, const CancelToken& cancel = {});

// Settings for a foreign program that may call git in `folder`, such as a context command: with
// them, git runs no program that the repository itself names, but still those of the user or the
// system. Empty if `folder` is in no repository.
std::vector<GitSetting> GitWallsFor(const std::string& folder, const CancelToken& cancel = {});
// Adds `walls` to the environment of such a program, after its existing git settings.
void AddGitWalls(const std::vector<GitSetting>& walls, std::vector<std::string>* environment);

// Variables ("NAME=value") that make git apply `settings` after all configuration files. They are
// numbered from `first` on (GIT_CONFIG_KEY_0 and so on).
std::vector<std::string> GitSettingVariables(const std::vector<GitSetting>& settings,
                                             std::size_t first = 0);

}  // namespace dossier

#endif  // DOSSIER_BASE_PROCESS_GIT_CALL_H_
