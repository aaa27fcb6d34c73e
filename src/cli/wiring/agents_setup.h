// From flags to what `dossier.yml` and `agentnet.edn` say about agents and the header.
//
//   DOSSIER_ASSIGN_OR_RETURN(const sources::AgentsConfig agents, LoadAgents(flags, err));
//
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_WIRING_AGENTS_SETUP_H_
#define DOSSIER_CLI_WIRING_AGENTS_SETUP_H_

#include <ostream>

#include "app/load_config.h"
#include "base/result.h"
#include "cli/wiring/global_flags.h"
#include "config/config.h"
#include "sources/header/agents_config.h"

namespace dossier::cli {

// All layers, with trust (as LoadConfig). Errors: kConfig, kRefused.
Result<sources::AgentsConfig> LoadAgents(const GlobalFlags& flags, std::ostream& err);
// The same over a configuration that is loaded already.
Result<sources::AgentsConfig> LoadAgents(const GlobalFlags& flags, const config::Config& config,
                                         std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_AGENTS_SETUP_H_
