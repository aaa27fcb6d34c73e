#include "base/files/git_folders.h"

#include <sys/stat.h>

#include <filesystem>

#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier {
namespace {

constexpr std::uint64_t kMaxPointer = 64 << 10;  // bytes of a file that names a folder

// The path in the file `file`, behind `head`, seen from `folder`; "" if there is none.
std::string ReadPointer(const std::string& file, std::string_view head, const std::string& folder) {
  const auto text = ReadRegularFile(file, kMaxPointer);
  if (!text || !text->starts_with(head)) return "";
  std::string_view path = std::string_view(*text).substr(head.size());
  while (path.ends_with('\n') || path.ends_with('\r')) path.remove_suffix(1);
  if (path.empty()) return "";
  return path.starts_with('/') ? std::string(path) : fmt::format("{}/{}", folder, path);
}

std::string Canonical(const std::string& path) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  return error ? "" : real;
}

std::optional<GitFolders> At(const std::string& root) {
  const std::string entry = root == "/" ? "/.git" : root + "/.git";
  const std::string git =
      IsFolder(entry) ? Canonical(entry) : Canonical(ReadPointer(entry, "gitdir: ", root));
  if (git.empty() || !Exists(git + "/HEAD")) return std::nullopt;
  std::string common = Canonical(ReadPointer(git + "/commondir", "", git));
  if (common.empty()) common = git;
  if (!IsFolder(common + "/objects") || !IsFolder(common + "/refs")) return std::nullopt;
  return GitFolders{root, git, common};
}

}  // namespace

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
