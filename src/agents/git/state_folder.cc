#include "agents/git/state_folder.h"

#include "base/files/file.h"

namespace dossier::agents {

Result<StateFolder> StateFolder::Open(const std::string& common) {
  StateFolder state(common + "/dossier");
  DOSSIER_RETURN_IF_ERROR(MakeFolders(state.path_, 0700));
  return state;
}

Result<std::string> StateFolder::Make(std::string_view below) const {
  std::string folder = fmt::format("{}/{}", path_, below);
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  return folder;
}

Result<std::string> StateFolder::Run(std::string_view run) const {
  return Make(fmt::format("runs/{}", run));
}

Result<std::string> StateFolder::Attempt(std::string_view run, std::string_view task,
                                         int attempt) const {
  return Make(fmt::format("runs/{}/{}/{}", run, task, attempt));
}

std::string StateFolder::Undone(std::string_view run) const {
  return fmt::format("{}/runs/{}/.git-dir", path_, run);
}

Result<std::string> StateFolder::Worktrees(std::string_view run) const {
  return Make(fmt::format("runs/{}/.worktrees", run));  // no task has this name
}

Result<std::string> StateFolder::Rescued(std::string_view run) const {
  return Make(fmt::format("rescued/{}", run));
}

Status WriteStateFile(const std::string& path, std::string_view content, Durability durability) {
  return ReplaceFile(path, {content}, {.mode = kStateFileMode, .durability = durability});
}

}  // namespace dossier::agents
