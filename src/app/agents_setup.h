// What `dossier.yml` and `agentnet.edn` of a repository say about agents and the header.
//
//   DOSSIER_ASSIGN_OR_RETURN(const sources::AgentsConfig agents, LoadAgents(config, ".", decide));
//
// Thread-safety: a function over files.

#ifndef DOSSIER_APP_AGENTS_SETUP_H_
#define DOSSIER_APP_AGENTS_SETUP_H_

#include <string>

#include "base/result.h"
#include "config/config.h"
#include "config/load.h"
#include "sources/header/agents_config.h"

namespace dossier::app {

// `folder`: anywhere in the repository. `decide` says whether the repository's file may be used.
// Errors: kConfig, and what `decide` returns.
Result<sources::AgentsConfig> LoadAgents(const config::Config& config, const std::string& folder,
                                         const config::Decide& decide);

}  // namespace dossier::app

#endif  // DOSSIER_APP_AGENTS_SETUP_H_
