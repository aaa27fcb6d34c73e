#include "config/folders.h"

#include <filesystem>

namespace dossier::config {

Result<UserFolders> UserFoldersOf(const Variables& variables) {
  return UserFolders::From([&](std::string_view name) { return Lookup(variables, name); });
}

std::string ResolvePath(const std::string& path, const std::string& folder,
                        const std::string& home) {
  if (path.empty()) return path;
  return (std::filesystem::path(folder) / ExpandHome(path, home)).lexically_normal();
}

Located ConversationFolder(const ConversationPlaces& places,
                           const std::function<bool(const std::string&)>& is_folder) {
  const Located named[] = {{places.flag, "--conversations-path"},
                           {places.dossier_variable, "$DOSSIER_CONVERSATIONS_PATH"},
                           {places.cllm_variable, "$CLLM_CONVERSATIONS_PATH"},
                           {places.config, "conversations_path"}};
  for (const Located& place : named) {
    if (!place.path.empty()) return place;
  }
  const Located bases[] = {{places.config_dir, "--config-dir"},
                           {places.dossier_config_dir, "$DOSSIER_CONFIG_DIR"},
                           {places.cllm_path, "$CLLM_PATH"}};
  for (const Located& place : bases) {
    if (!place.path.empty()) return {place.path + "/conversations", place.why};
  }
  for (const std::string& folder : places.project_folders) {
    for (const char* name : {".dossier", ".cllm"}) {
      const std::string base = (folder == "/" ? "/" : folder + "/") + name;
      // In the home folder .cllm is the user's own, not a project's.
      if (base == places.user.legacy_folder() || !is_folder(base)) continue;
      return {base + "/conversations", base + " is there"};
    }
  }
  const std::string own = places.user.data + "/conversations";
  const std::string legacy = places.user.legacy_folder() + "/conversations";
  if (!places.user.home.empty() && !is_folder(own) && is_folder(legacy)) {
    return {legacy, "only it exists"};
  }
  return {own, "the user's data folder"};
}

}  // namespace dossier::config
