#include "app/load_config.h"

#include <filesystem>

#include "base/clock.h"
#include "base/files/git_folders.h"
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

}  // namespace dossier::app
