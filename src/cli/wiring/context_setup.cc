#include "cli/wiring/context_setup.h"

#include "base/text/text.h"

namespace dossier::cli {

Result<PreparedContext> PrepareContext(const ContextFlags& flags, const config::Config& config) {
  const auto deadline = ParseDuration(flags.timeout);
  if (!deadline || *deadline <= Millis(0)) {
    return MakeError(ErrorCode::kUsage, "--context-timeout {}: must be a time above 0, such as 90s",
                     flags.timeout);
  }
  return app::PrepareContext(
      {.exec = flags.exec, .variables = flags.variables, .jobs = flags.jobs, .deadline = *deadline},
      config);
}

}  // namespace dossier::cli
