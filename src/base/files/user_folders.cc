#include "base/files/user_folders.h"

#include <cstdlib>

namespace dossier {
namespace {

struct Row {
  UserFolderKind kind;
  std::string_view variable, below_home;
};

constexpr Row kRows[] = {{UserFolderKind::kConfig, "XDG_CONFIG_HOME", ".config"},
                         {UserFolderKind::kData, "XDG_DATA_HOME", ".local/share"},
                         {UserFolderKind::kCache, "XDG_CACHE_HOME", ".cache"},
                         {UserFolderKind::kState, "XDG_STATE_HOME", ".local/state"}};

std::string AbsolutePath(const VariableLookup& lookup, std::string_view name) {
  const std::optional<std::string> path = lookup(name);
  return path && path->starts_with('/') ? *path : std::string();
}

std::optional<std::string> OfProcess(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace

Result<std::string> UserFolder(UserFolderKind kind, const VariableLookup& lookup) {
  const Row& row = kRows[static_cast<std::size_t>(kind)];
  if (const std::string base = AbsolutePath(lookup, row.variable); !base.empty()) {
    return fmt::format("{}/dossier", base);
  }
  const std::string home = AbsolutePath(lookup, "HOME");
  if (!home.empty()) return fmt::format("{}/{}/dossier", home, row.below_home);
  return MakeError(ErrorCode::kConfig, "HOME is not set: set it, or set {}", row.variable);
}

Result<UserFolders> UserFolders::From(const VariableLookup& lookup) {
  UserFolders folders{.home = AbsolutePath(lookup, "HOME")};
  std::string* const places[] = {&folders.config, &folders.data, &folders.cache, &folders.state};
  for (const Row& row : kRows) {
    DOSSIER_ASSIGN_OR_RETURN(*places[static_cast<std::size_t>(row.kind)],
                             UserFolder(row.kind, lookup));
  }
  return folders;
}

std::string ExpandHome(std::string_view path, std::string_view home) {
  const bool in_home = !home.empty() && (path == "~" || path.starts_with("~/"));
  return in_home ? fmt::format("{}{}", home, path.substr(1)) : std::string(path);
}

Result<std::string> DataFolder() { return UserFolder(UserFolderKind::kData, OfProcess); }
Result<std::string> ConfigFolder() { return UserFolder(UserFolderKind::kConfig, OfProcess); }
Result<std::string> CacheFolder() { return UserFolder(UserFolderKind::kCache, OfProcess); }

}  // namespace dossier
