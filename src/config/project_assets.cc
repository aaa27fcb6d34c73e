#include "config/project_assets.h"

#include <algorithm>
#include <filesystem>

#include "base/files/file.h"

namespace dossier::config {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBytes = 4 << 20;  // of all files together
constexpr std::size_t kMaxFiles = 1000;

// Files that steer prompts, below `root`; others there are nobody's business.
Result<std::vector<std::string>> NamesIn(const fs::path& root) {
  std::vector<std::string> names;
  for (const char* kind : {"layouts", "prompts"}) {
    std::error_code error;
    fs::recursive_directory_iterator at(root / kind, error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
      const fs::path& path = at->path();
      const std::string ending = path.extension().string();
      if (ending != ".yaml" && ending != ".yml" && ending != ".md") continue;
      if (!fs::is_regular_file(at->symlink_status(error))) {
        return MakeError(ErrorCode::kConfig, "{} is no regular file", path.string());
      }
      names.push_back(path.lexically_relative(root).string());
      if (names.size() > kMaxFiles) {
        return MakeError(ErrorCode::kConfig, "{} holds more than {} files", root.string(),
                         kMaxFiles);
      }
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A link would let a project name what is not its own. Links above `folder` are the user's way.
Result<std::string> RealFolder(const std::string& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return MakeErrnoError(error.value(), folder);
  const bool is_link = fs::is_symlink(fs::symlink_status(folder, error));
  for (const char* kind : {"layouts", "prompts"}) {
    if (is_link || fs::is_symlink(fs::symlink_status(real / kind, error))) {
      return MakeError(ErrorCode::kRefused, "{} is a link; name the folder with --layouts-dir",
                       is_link ? folder : (real / kind).string());
    }
  }
  return real.string();
}

}  // namespace

Result<std::optional<ProjectAssets>> ReadProjectAssets(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(fs::path(folder) / "layouts", error) &&
      !fs::exists(fs::path(folder) / "prompts", error)) {
    return std::nullopt;
  }
  ProjectAssets assets{.file = {.path = folder}};
  DOSSIER_ASSIGN_OR_RETURN(assets.file.real_path, RealFolder(folder));
  DOSSIER_ASSIGN_OR_RETURN(assets.names, NamesIn(assets.file.real_path));
  if (assets.names.empty()) return std::nullopt;
  for (const std::string& name : assets.names) {
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string text,
        ReadOwnedFile(fmt::format("{}/{}", assets.file.real_path, name), kMaxBytes));
    assets.file.bytes += fmt::format("=== {}, {} bytes\n{}\n", name, text.size(), text);
    if (assets.file.bytes.size() > kMaxBytes) {
      return MakeError(ErrorCode::kConfig, "{}: layouts and prompts hold more than {} bytes",
                       folder, kMaxBytes);
    }
  }
  return assets;
}

}  // namespace dossier::config
