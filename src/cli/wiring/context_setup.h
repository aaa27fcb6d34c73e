// The flags of context commands, and what they mean with the configuration.
//
//   ContextFlags flags;  AddContextFlags(*command, &flags);
//   DOSSIER_ASSIGN_OR_RETURN(PreparedContext context, PrepareContext(flags, config));
//   chat::CommandContext source(context.setup);

#ifndef DOSSIER_CLI_WIRING_CONTEXT_SETUP_H_
#define DOSSIER_CLI_WIRING_CONTEXT_SETUP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "app/context_setup.h"
#include "base/result.h"
#include "config/config.h"

namespace dossier::cli {

using app::PreparedContext;

struct ContextFlags {
  std::vector<std::string> exec, variables;
  std::int64_t jobs = 16;
  std::string timeout = "120";  // seconds, or "500ms"
};

// Errors: as app::PrepareContext; kUsage (a flag).
Result<PreparedContext> PrepareContext(const ContextFlags& flags, const config::Config& config);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_CONTEXT_SETUP_H_
