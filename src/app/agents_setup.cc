#include "cli/wiring/agents_setup.h"

#include "config/config_file.h"
#include "sources/repository/repo_facts.h"

namespace dossier::cli {

Result<sources::AgentsConfig> LoadAgents(const GlobalFlags& flags, const config::Config& config,
                                         std::ostream& err) {
  const auto decide = [&](const config::Question& question) {
    return CheckTrust(flags, question, err);
  };
  DOSSIER_ASSIGN_OR_RETURN(
      const auto agentnet,
      sources::ReadAgentNet(sources::RepoRoot("."), config::ReadConfigFile, decide));
  return sources::ReadAgentsConfig(config, agentnet);
}

Result<sources::AgentsConfig> LoadAgents(const GlobalFlags& flags, std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(flags, {}, err));
  return LoadAgents(flags, config, err);
}

}  // namespace dossier::cli
