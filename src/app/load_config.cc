#include "app/load_config.h"

#include <filesystem>

#include "app/open_model.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/files/git_folders.h"
#include "base/files/locations.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "config/edit.h"
#include "config/expand.h"
#include "config/trust.h"
#include "sources/repository/repo_facts.h"

namespace dossier::app {

Result<config::Config> LoadOwnConfig() {
  const config::Variables variables = config::ProcessVariables();
  DOSSIER_ASSIGN_OR_RETURN(const auto user, config::UserFoldersOf(variables));
  return config::LoadUserFile(user.config_file(), user, variables, config::ReadConfigFile);
}

Result<config::Config> LoadProjectConfig(const std::string& folder, const config::Decide& decide) {
  config::LoadRequest request{.variables = config::ProcessVariables()};
  std::error_code error;
  request.folder = std::filesystem::canonical(folder, error).string();
  if (error) return MakeErrnoError(error.value(), folder);
  if (const auto git = FindGitFolders(request.folder)) request.root = git->root;
  return config::LoadConfig(request, config::ReadConfigFile, decide);
}

Status UseIfApproved(const config::Question& question) {
  DOSSIER_ASSIGN_OR_RETURN(const auto user, config::UserFoldersOf(config::ProcessVariables()));
  const config::TrustStore store(user.state, SystemClock());
  DOSSIER_ASSIGN_OR_RETURN(const auto known, store.Find(question.file.real_path));
  if (known && known->sha256 == Sha256Hex(question.file.bytes)) return {};
  return MakeError(
      ErrorCode::kRefused,
      "project config {} is not trusted, and can run code or redirect data: {}; review "
      "it and run: dossier trust {}",
      question.file.path, Join(question.powers, ", "), ShellQuote(question.file.path));
}

Result<sources::AgentsConfig> LoadAgents(const config::Config& config, const std::string& folder,
                                         const config::Decide& decide) {
  DOSSIER_ASSIGN_OR_RETURN(
      const auto agentnet,
      sources::ReadAgentNet(sources::RepoRoot(folder), config::ReadConfigFile, decide));
  return sources::ReadAgentsConfig(config, agentnet);
}

namespace {

constexpr const char* kProjectFolder = ".dossier";

// Users may name the folder that contains layouts/, or layouts/ itself.
std::string WithoutLayouts(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (folder == "layouts") return ".";
  if (folder.ends_with("/layouts")) folder.resize(folder.size() - 8);
  return folder.empty() ? "/" : folder;
}

// Nothing reads data/ in these folders: a file that the user expects to be used is an error.
Status RefuseData(const assembly::AssetFolders& folders) {
  for (const std::string& folder : folders.overrides) {
    for (const std::string_view name : BuiltInAssets("data/")) {
      const std::string path = fmt::format("{}/{}", folder, name);
      // A checkout of the program's source contains them all, identical to the built-in ones.
      if (!Exists(path) || ReadFile(path).value_or("") == BuiltInAsset(name)) continue;
      return MakeError(ErrorCode::kConfig,
                       "{}: built-in data cannot be replaced by a file, so nothing reads this one; "
                       "remove it. Facts about models are added by `models: {{data: [FILE]}}` in "
                       "{}/dossier.yml, commands as models by files in {}/commands",
                       path, ConfigFolder().value_or("~/.config/dossier"),
                       ConfigFolder().value_or("~/.config/dossier"));
    }
  }
  return {};
}

}  // namespace

Result<std::string> NamedAssetFolder(std::string_view flag, const std::string& name) {
  if (!Exists(name)) {
    return MakeError(ErrorCode::kNotFound, "{}{}: there is no such folder", flag, name);
  }
  std::string folder = WithoutLayouts(name);
  // Otherwise the built-in files would be used without notice.
  if (!Exists(folder + "/layouts") && !Exists(folder + "/prompts")) {
    return MakeError(ErrorCode::kNotFound,
                     "{0}{1}: it has neither layouts/ nor prompts/; layouts are looked for in "
                     "{1}/layouts",
                     flag, name);
  }
  return folder;
}

namespace {

enum class Project { kUsed, kLeftOut };

Result<assembly::AssetFolders> Collect(const std::string& layouts_dir, Project project) {
  assembly::AssetFolders folders;
  if (!layouts_dir.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(std::string folder, NamedAssetFolder("--layouts-dir ", layouts_dir));
    folders.overrides.push_back(std::move(folder));
  }
  if (const auto named = Environment("DOSSIER_LAYOUTS_DIR")) {
    DOSSIER_ASSIGN_OR_RETURN(std::string folder, NamedAssetFolder("DOSSIER_LAYOUTS_DIR ", *named));
    folders.overrides.push_back(std::move(folder));
  }
  if (project == Project::kUsed && Exists(kProjectFolder)) {
    folders.overrides.emplace_back(kProjectFolder);
  }
  if (auto config = ConfigFolder()) folders.overrides.push_back(*config);
  DOSSIER_RETURN_IF_ERROR(RefuseData(folders));
  return folders;
}

}  // namespace

Result<assembly::AssetFolders> AssetFoldersFor(const std::string& layouts_dir,
                                               const config::Decide& decide) {
  DOSSIER_ASSIGN_OR_RETURN(const auto assets, config::ReadProjectAssets(kProjectFolder));
  if (assets) DOSSIER_RETURN_IF_ERROR(decide({assets->file, assets->names}));
  return AllAssetFolders(layouts_dir);
}

Result<assembly::AssetFolders> AllAssetFolders(const std::string& layouts_dir) {
  return Collect(layouts_dir, Project::kUsed);
}

Result<assembly::AssetFolders> UserAssetFolders(const std::string& layouts_dir) {
  return Collect(layouts_dir, Project::kLeftOut);
}

}  // namespace dossier::app
