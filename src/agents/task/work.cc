#include "agents/task/work.h"

#include <fmt/format.h>

#include <filesystem>

namespace dossier::agents {

std::string WholePath(const std::string& path, const std::string& root,
                      const std::vector<std::string>& environment) {
  if (path.starts_with('/')) return path;
  if (path != "~" && !path.starts_with("~/")) return fmt::format("{}/{}", root, path);
  for (const std::string& variable : environment) {
    if (variable.starts_with("HOME=")) return variable.substr(5) + path.substr(1);
  }
  return path;
}

ProcessPlaces PlacesBeside(const Work& work, const Worktree& worktree) {
  // As in WorktreePath: WORKTREES/REPOSITORY/RUN/w1. Other workers' worktrees come and go.
  const std::filesystem::path worktrees =
      std::filesystem::path(worktree.path()).parent_path().parent_path().parent_path();
  return {.own = {worktree.admin()},
          .writable = {},
          .readable = ObjectFolders(work.git.folders().common),
          .hidden = {work.state.path(), worktrees.string()}};
}

Result<GuardWatch::Seen> GuardWatch::End(std::uint64_t begin) {
  const std::lock_guard lock(mutex_);
  DOSSIER_ASSIGN_OR_RETURN(GuardReport report, guard_.Check());
  foreign_.insert(foreign_.end(), report.foreign.begin(), report.foreign.end());
  foreign_count_ = foreign_.size();
  Seen seen{.moved_branches = std::move(report.moved_branches)};
  seen.foreign.assign(foreign_.begin() + static_cast<std::ptrdiff_t>(begin), foreign_.end());
  return seen;
}

}  // namespace dossier::agents
