#include "cli/wiring/context_setup.h"

#include "base/text/text.h"

namespace dossier::cli {

void AddContextFlags(CLI::App& command, ContextFlags* flags) {
  const std::string group = "Context";
  command.add_option("--exec", flags->exec, "run CMD, put its output in the prompt (repeat)")
      ->type_name("CMD")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("-D,--var", flags->variables, "KEY=VALUE for templates in commands (repeat)")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--context-jobs", flags->jobs, "commands that run at once")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->group(group);
  command.add_option("--context-timeout", flags->timeout, "of all commands together")
      ->type_name("TIME")
      ->capture_default_str()
      ->group(group);
}

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
