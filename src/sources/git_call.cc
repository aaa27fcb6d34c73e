#include "sources/git_call.h"

#include <unistd.h>

#include <string_view>

namespace dossier::sources {

std::vector<std::string> GitCallEnvironment() {
  std::vector<std::string> environment;
  for (char** at = environ; *at; ++at) {
    const std::string_view variable = *at;
    if (variable.starts_with("GIT_") || variable.starts_with("LC_ALL=")) continue;
    environment.emplace_back(variable);
  }
  environment.insert(environment.end(),
                     {"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0"});
  return environment;
}

Result<ProcessResult> CallGit(const GitCall& call, const CancelToken& cancel) {
  ProcessSpec spec{.argv = {"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"},
                   .folder = call.folder,
                   .environment = GitCallEnvironment(),
                   .input = call.input,
                   .max_output = call.max_output,
                   .timeout = call.timeout};
  spec.argv.insert(spec.argv.end(), call.arguments.begin(), call.arguments.end());
  spec.environment->insert(spec.environment->end(), call.environment.begin(),
                           call.environment.end());
  return RunProcess(spec, cancel);
}

}  // namespace dossier::sources
