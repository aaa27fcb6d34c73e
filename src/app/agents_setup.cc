#include "app/agents_setup.h"

#include "config/config_file.h"
#include "sources/repository/repo_facts.h"

namespace dossier::app {

Result<sources::AgentsConfig> LoadAgents(const config::Config& config, const std::string& folder,
                                         const config::Decide& decide) {
  DOSSIER_ASSIGN_OR_RETURN(
      const auto agentnet,
      sources::ReadAgentNet(sources::RepoRoot(folder), config::ReadConfigFile, decide));
  return sources::ReadAgentsConfig(config, agentnet);
}

}  // namespace dossier::app
