#include "cli/wiring/agents_setup.h"

namespace dossier::cli {

Result<sources::AgentsConfig> LoadAgents(const GlobalFlags& flags, const config::Config& config,
                                         std::ostream& err) {
  return app::LoadAgents(config, ".", DecideBy(flags, err));
}

Result<sources::AgentsConfig> LoadAgents(const GlobalFlags& flags, std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(flags, {}, err));
  return LoadAgents(flags, config, err);
}

}  // namespace dossier::cli
