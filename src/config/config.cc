#include "config/config.h"

#include <algorithm>
#include <filesystem>

namespace dossier::config {
namespace {

using Owner = Candidate::Owner;

// A folder in which configuration files of either name may be; low to high precedence.
struct Place {
  std::string folder;
  Owner owner;
};

std::string Under(const std::string& folder, std::string_view name) {
  return folder == "/" ? fmt::format("/{}", name) : fmt::format("{}/{}", folder, name);
}

std::vector<Place> Places(const Search& search) {
  const std::string legacy = search.user.legacy_folder();
  std::vector<Place> places;
  if (!search.config_dir.empty()) {
    const bool named = search.config_dir_from == Search::ConfigDir::kNamed;
    return {{search.config_dir, named ? Owner::kUser : Owner::kProject}};
  }
  if (search.mode == CompatMode::kCompat && !search.cllm_path.empty()) {
    return {{search.cllm_path, Owner::kProject}};
  }
  if (!legacy.empty()) places.push_back({legacy, Owner::kUser});
  if (search.mode == CompatMode::kDefault) places.push_back({search.user.config, Owner::kUser});
  std::vector<std::string> folders = {search.folder};
  if (search.mode == CompatMode::kDefault) folders = ProjectFolders(search.folder, search.root);
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    const std::string old = Under(*folder, ".cllm");
    if (old != legacy) places.push_back({old, Owner::kProject});
    places.push_back({*folder, Owner::kProject});
  }
  return places;
}

}  // namespace

std::vector<std::string> ProjectFolders(const std::string& folder, const std::string& root) {
  std::vector<std::string> folders = {folder};
  const bool inside =
      !root.empty() && (folder == root || root == "/" || folder.starts_with(root + "/"));
  while (inside && folders.back() != root) {
    const std::string& last = folders.back();
    folders.push_back(last.rfind('/') == 0 ? "/" : last.substr(0, last.rfind('/')));
  }
  return folders;
}

std::vector<Candidate> FindCandidates(const Search& search) {
  std::vector<Candidate> found;
  const bool compat = search.mode == CompatMode::kCompat;
  if (compat && !search.name.empty()) return found;  // --config replaces Cllmfile.yml
  const bool whole_search = search.config_dir.empty();
  for (const Place& place : Places(search)) {
    const bool old_only = place.folder.ends_with("/.cllm");
    const bool new_only = whole_search && place.folder == search.user.config;
    if (!new_only) found.push_back({Under(place.folder, "Cllmfile.yml"), place.owner});
    if (compat || (old_only && whole_search)) continue;
    if (whole_search && place.owner == Owner::kProject) {
      found.push_back({Under(place.folder, ".dossier/dossier.yml"), place.owner});
    }
    found.push_back({Under(place.folder, "dossier.yml"), place.owner});
  }
  return found;
}

std::vector<std::vector<Candidate>> FindNamedCandidates(const Search& search) {
  std::vector<std::vector<Candidate>> groups;
  if (search.name.empty()) return groups;
  const std::string ours = search.name + ".dossier.yml", theirs = search.name + ".Cllmfile.yml";
  for (const Place& place : Places(search)) {
    std::vector<Candidate> group;
    if (search.mode == CompatMode::kDefault) {
      group.push_back({Under(place.folder, ours), place.owner});
      if (place.owner == Owner::kProject && search.config_dir.empty() &&
          !place.folder.ends_with("/.cllm")) {
        group.push_back({Under(place.folder, ".dossier/" + ours), place.owner});
      }
    }
    group.push_back({Under(place.folder, theirs), place.owner});
    groups.push_back(std::move(group));
  }
  if (search.mode == CompatMode::kDefault) std::reverse(groups.begin(), groups.end());
  return groups;
}

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
      // In the home folder, .cllm belongs to the user, not to a project.
      if (base == places.user.legacy_folder() || !is_folder(base)) continue;
      return {base + "/conversations", base + " is there", Located::Owner::kProject};
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
