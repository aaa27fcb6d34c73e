// STATE: the folder inside a repository's git folder where agent runs keep their records.
//
//   DOSSIER_ASSIGN_OR_RETURN(const StateFolder state, StateFolder::Open(git.folders().common));
//   DOSSIER_ASSIGN_OR_RETURN(const std::string folder, state.Attempt(run, "fact-001", 1));
//
// Folders have mode 0700, files 0600, because prompts and patches are private. Thread-safety:
// immutable; folders may be made from many threads and processes.

#ifndef DOSSIER_AGENTS_GIT_STATE_FOLDER_H_
#define DOSSIER_AGENTS_GIT_STATE_FOLDER_H_

#include <string>
#include <string_view>

#include "base/files/file.h"
#include "base/result.h"

namespace dossier::agents {

inline constexpr unsigned kStateFileMode = 0600;

class StateFolder {
 public:
  // Opens COMMON/dossier, made if missing. Errors: kIo, kPermission, with the path.
  static Result<StateFolder> Open(const std::string& common);

  const std::string& path() const { return path_; }
  std::string MergeLock() const { return path_ + "/merge.lock"; }
  std::string MergeIntent() const { return path_ + "/merge-intent.json"; }

  // These make the folder. `run` and `task` are names usable in files (sources::FileNameOfId).
  Result<std::string> Runs() const { return Make("runs"); }
  Result<std::string> Claims() const { return Make("claims"); }
  Result<std::string> Run(std::string_view run) const;
  Result<std::string> Attempt(std::string_view run, std::string_view task, int attempt) const;
  Result<std::string> Worktrees(std::string_view run) const;  // their records
  // Below it is what a GitDirGuard undid; made by the guard. No task has this name.
  std::string Undone(std::string_view run) const;
  Result<std::string> Rescued(std::string_view run) const;

 private:
  explicit StateFolder(std::string path) : path_(std::move(path)) {}
  Result<std::string> Make(std::string_view below) const;

  std::string path_;
};

// Writes a small private file. Use kSurvivesPowerLoss for what another step relies on after a power
// cut; what can be made again, or is for people, need not wait for the disk.
Status WriteStateFile(const std::string& path, std::string_view content, Durability durability);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_STATE_FOLDER_H_
