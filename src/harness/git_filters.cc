#include "harness/git_filters.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace dossier::harness {
namespace {

constexpr std::string_view kBetweenWords = " \t\n\"'`;|&()<>=$";

bool IsFile(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

std::vector<std::string> RelativeNames(std::string_view command) {
  std::vector<std::string> names;
  bool first = true;
  while (true) {
    command.remove_prefix(std::min(command.find_first_not_of(kBetweenWords), command.size()));
    if (command.empty()) return names;
    const std::size_t end = std::min(command.find_first_of(kBetweenWords), command.size());
    const std::string_view word = command.substr(0, end);
    command.remove_prefix(end);
    const bool on_path = std::exchange(first, false) && word.find('/') == std::string_view::npos;
    if (!on_path && word.find_first_of("-/~") != 0) names.emplace_back(word);
  }
}

Status CheckFilters(const Git& git) {
  DOSSIER_ASSIGN_OR_RETURN(
      const ProcessResult found,
      git.Run(git.Common(), {.arguments = {"config", "-z", "--get-regexp",
                                           "^filter\\..*\\.(clean|smudge|process)$"}}));
  Status good;
  ForEachAtNul(found.out, [&](std::string_view entry) {  // "filter.x.clean\nCOMMAND"
    const std::size_t line = std::min(entry.find('\n'), entry.size() - 1);
    for (const std::string& name : RelativeNames(entry.substr(line + 1))) {
      if (!good || !IsFile(fmt::format("{}/{}", git.folders().root, name))) continue;
      good = MakeError(ErrorCode::kUnavailable,
                       "git's {} runs {}, which engines can change in their worktrees, outside of "
                       "all walls: let it name a copy elsewhere by its absolute path",
                       entry.substr(0, line), name);
    }
  });
  return good;
}

}  // namespace dossier::harness
