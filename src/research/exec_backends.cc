#include "research/exec_backends.h"

#include <fmt/format.h>

#include <utility>

#include "research/exec_local.h"

namespace dossier::research {
namespace {

LocalOptions LocalOf(const ExecConfig& config, std::vector<std::string> degraded) {
  LocalOptions options;
  options.timeout = Millis(config.timeout * 1000);
  options.cpu = Millis(config.cpu_seconds * 1000);
  options.memory_bytes = static_cast<std::uint64_t>(config.memory_bytes);
  options.output_bytes = static_cast<std::uint64_t>(config.output_bytes);
  options.processes = static_cast<int>(config.processes);
  options.degraded = std::move(degraded);
  return options;
}

Result<BackendFactory> LocalBackends(LocalOptions options) {
  DOSSIER_ASSIGN_OR_RETURN(const auto tried, MakeLocalBackend(options));
  return BackendFactory(
      [options = std::move(options)](std::string_view) { return MakeLocalBackend(options); });
}

}  // namespace

Result<BackendFactory> MakeBackends(const BackendSetup& setup) {
  const ExecConfig& config = *setup.config;
  if (config.backend == "local") return LocalBackends(LocalOf(config, setup.degraded));
  return MakeError(ErrorCode::kUsage, "exec.backend {}: there is local", config.backend);
}

}  // namespace dossier::research
