#include "server/client_model.h"

namespace dossier::server {

Status CheckClientModel(const app::ModelSettings& start, const config::Config& config,
                        const std::string& name) {
  const bool own = name.empty() || name == start.model || name == start.sub_model ||
                   name == start.child_model || name == config.model;
  if (own) return {};
  bool refused = name.find("://") != name.npos || name.starts_with('-');
  if (!refused) {
    // An alias of the configuration counts as the model that it names.
    const auto choice = app::ChooseWithoutKey(name, &config);
    refused = name.starts_with("command/") || (choice && choice->provider.name == "command");
  }
  if (!refused) return {};
  return MakeError(ErrorCode::kRefused,
                   "model {}: a program or an address is no model that a client may name; whoever "
                   "runs this server allows this very one by starting it with -m {}",
                   name, name);
}

}  // namespace dossier::server
