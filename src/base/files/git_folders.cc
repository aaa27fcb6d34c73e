#include "base/files/git_folders.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstddef>
#include <filesystem>
#include <vector>

#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier {
namespace {

constexpr std::uint64_t kMaxPointer = 64 << 10;  // bytes of a file that names a folder

// Reads the path after `head` in the file `file`, relative to `folder`; "" if there is none.
std::string ReadPointer(const std::string& file, std::string_view head, const std::string& folder) {
  const auto text = ReadRegularFile(file, kMaxPointer);
  if (!text || !text->starts_with(head)) return "";
  std::string_view path = std::string_view(*text).substr(head.size());
  while (path.ends_with('\n') || path.ends_with('\r')) path.remove_suffix(1);
  if (path.empty()) return "";
  return path.starts_with('/') ? std::string(path) : fmt::format("{}/{}", folder, path);
}

bool IsWithin(const std::string& path, const std::string& folder) {
  return path.starts_with(folder.ends_with('/') ? folder : folder + "/");
}

// Returns true if the settings of `git` name `root` as its work tree.
bool NamesWorkTree(const std::string& git, const std::string& root) {
  for (const char* name : {"/config", "/config.worktree"}) {
    const auto text = ReadRegularFile(git + name, kMaxPointer);
    for (const std::string_view line : Split(text.value_or(""), '\n')) {
      const std::size_t equals = line.find('=');
      if (equals == line.npos || TrimSpace(line.substr(0, equals)) != "worktree") continue;
      const std::string path(TrimSpace(line.substr(equals + 1)));
      if (Canonical(path.starts_with('/') ? path : fmt::format("{}/{}", git, path)) == root) {
        return true;
      }
    }
  }
  return false;
}

// Returns true if the repository at `folders` belongs to `root`: a link out of it could lead to any
// repository of the user. Linked work trees and submodules are elsewhere, and point back.
bool BelongsTo(const std::string& root, const GitFolders& folders) {
  const std::string& common = folders.common;
  if (folders.git == common) {
    return IsWithin(common, root) || NamesWorkTree(common, root);
  }
  const std::string back = ReadPointer(folders.git + "/gitdir", "", folders.git);
  return IsWithin(folders.git, common + "/worktrees") &&
         (NamesWorkTree(folders.git, root) ||
          (back.ends_with("/.git") && Canonical(back.substr(0, back.size() - 5)) == root));
}

// Returns the folder that ROOT/.git is or names; "" if neither.
std::string GitOf(const std::string& root) {
  const std::string entry = root == "/" ? "/.git" : root + "/.git";
  return IsFolder(entry) ? entry : ReadPointer(entry, "gitdir: ", root);
}

std::optional<GitFolders> At(const std::string& root) {
  auto found = GitFoldersAt(GitOf(root));
  if (!found || !BelongsTo(root, *found)) return std::nullopt;
  found->root = root;
  return found;
}

// Files that git opens by fixed names.
constexpr const char* kOfWorkTree[] = {".gitattributes", ".gitignore", ".gitmodules", ".mailmap"};
constexpr const char* kOfGit[] = {"HEAD",      "index",    "config.worktree",
                                  "commondir", "logs/HEAD", "info/sparse-checkout"};
constexpr const char* kOfCommon[] = {"config",       "packed-refs",         "shallow",
                                     "info/exclude", "info/attributes",     "info/grafts",
                                     "HEAD",         "reftable/tables.list"};
constexpr const char* kOfObjects[] = {"info/alternates", "info/commit-graph",
                                      "info/http-alternates",
                                      "info/commit-graphs/commit-graph-chain"};
constexpr std::size_t kMostEntries = 100'000;  // of references and packs; more are not looked at
constexpr std::size_t kMostBorrowed = 32;      // repositories whose objects are used

// A reference that links to another repository would reveal that one's content.
Status CheckStays(const std::string& path, const std::string& within) {
  std::error_code error;
  if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, error))) return {};
  const std::string real = Canonical(path);
  if (real.empty() || IsWithin(real, within)) return {};
  return MakeError(ErrorCode::kRefused, "{} is a link out of its repository, to {}", path, real);
}

// Checks all files below `folder`; links are followed only to their target. If `within` is given,
// they must not lead out of it.
Status CheckFilesBelow(const std::string& folder, const std::string& within = "") {
  namespace fs = std::filesystem;
  std::error_code error;
  std::size_t entries = 0;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    if (++entries > kMostEntries) break;
    std::error_code gone;
    const fs::file_type type = at->symlink_status(gone).type();
    if (type == fs::file_type::regular || type == fs::file_type::directory) continue;
    DOSSIER_RETURN_IF_ERROR(CheckGitFile(at->path().string()));
    if (!within.empty()) DOSSIER_RETURN_IF_ERROR(CheckStays(at->path().string(), within));
  }
  return {};
}

Status CheckObjects(const std::string& first) {
  std::vector<std::string> folders = {first};
  for (std::size_t i = 0; i < folders.size() && i < kMostBorrowed; ++i) {
    for (const char* name : kOfObjects) {
      DOSSIER_RETURN_IF_ERROR(CheckGitFile(fmt::format("{}/{}", folders[i], name)));
    }
    DOSSIER_RETURN_IF_ERROR(CheckFilesBelow(folders[i] + "/pack"));
    const auto borrowed = ReadRegularFile(folders[i] + "/info/alternates", kMaxPointer);
    if (!borrowed) continue;
    const std::string folder = folders[i];
    for (const std::string_view line : Split(*borrowed, '\n')) {
      if (line.empty() || line.starts_with('#')) continue;
      folders.push_back(line.starts_with('/') ? std::string(line)
                                              : fmt::format("{}/{}", folder, line));
    }
  }
  return {};
}

}  // namespace

std::optional<GitFolders> GitFoldersAt(const std::string& given) {
  const std::string git = Canonical(given);
  if (git.empty() || !Exists(git + "/HEAD")) return std::nullopt;
  std::string common = Canonical(ReadPointer(git + "/commondir", "", git));
  if (common.empty()) common = git;
  if (!IsFolder(common + "/objects") || !IsFolder(common + "/refs")) return std::nullopt;
  return GitFolders{"", git, common};
}

Status CheckGitFile(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) return {};
  const dev_t null = makedev(1, 3);  // /dev/null: a setting's way to say "none"
  if (S_ISCHR(info.st_mode) && info.st_rdev == null) return {};
  return MakeError(ErrorCode::kRefused, "{} is no ordinary file, and git would wait for it", path);
}

Status CheckGitFiles(const GitFolders& folders) {
  const auto check = [](const std::string& folder, const auto& names) -> Status {
    for (const char* name : names) {
      DOSSIER_RETURN_IF_ERROR(CheckGitFile(fmt::format("{}/{}", folder, name)));
    }
    return {};
  };
  if (!folders.root.empty()) DOSSIER_RETURN_IF_ERROR(check(folders.root, kOfWorkTree));
  DOSSIER_RETURN_IF_ERROR(check(folders.git, kOfGit));
  DOSSIER_RETURN_IF_ERROR(check(folders.common, kOfCommon));
  for (const std::string& folder : {folders.git, folders.common}) {
    for (const char* name : {"HEAD", "packed-refs", "refs", "reftable"}) {
      DOSSIER_RETURN_IF_ERROR(CheckStays(fmt::format("{}/{}", folder, name), folders.common));
    }
    DOSSIER_RETURN_IF_ERROR(CheckFilesBelow(folder + "/refs", folders.common));
    DOSSIER_RETURN_IF_ERROR(CheckFilesBelow(folder + "/logs/refs"));
    if (folders.git == folders.common) break;
  }
  return CheckObjects(folders.common + "/objects");
}

std::optional<GitFolders> FindGitFolders(const std::string& folder) {
  for (std::string root = Canonical(folder); !root.empty();) {
    if (auto found = At(root)) return found;
    if (root == "/") break;
    const std::size_t slash = root.rfind('/');
    root.resize(slash == 0 ? 1 : slash);
  }
  return std::nullopt;
}

std::string NoWorkTree(const std::string& folder) {
  for (std::string at = Canonical(folder); !at.empty(); at.resize(at.rfind('/'))) {
    const auto found = GitFoldersAt(GitOf(at));
    if (!found || BelongsTo(at, *found)) continue;
    return fmt::format(
        "{0}/.git leads to {1}, which does not name {0} as its work tree, so it is not read; where "
        "it should, `git worktree repair {0}` in that repository, or its core.worktree, says so",
        at, IsWithin(found->git, at) ? found->common : found->git);
  }
  for (std::string at = Canonical(folder); !at.empty(); at.resize(at.rfind('/'))) {
    if (Exists(at + "/HEAD") && IsFolder(at + "/objects") && IsFolder(at + "/refs")) {
      return fmt::format("{} is a bare repository: it has no files; work in a clone of it", at);
    }
  }
  return fmt::format("{} is in no git repository", folder);
}

bool IsWorkTree(const std::string& folder) {
  return Exists(folder + "/.git") && At(folder).has_value();
}

}  // namespace dossier
