#include "cli/runs/research_tools.h"

#include <utility>

#include "base/files/file.h"
#include "cli/terminal/terminal.h"
#include "research/exec/probe.h"
#include "research/resources/resources.h"
#include "research/setup/exec_backends.h"

namespace dossier::cli {
namespace {

using research::PreparedResources;
using research::ResourceFile;

const std::string& Mount() {
  static const std::string kMount = research::ExecConfig().workspace_mount;
  return kMount;
}

// Without a run folder: nothing is fetched.
Result<PreparedResources> Prepare(const ResearchCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const ResourceFile file, ReadResources(call.arguments.file, Mount()));
  DOSSIER_ASSIGN_OR_RETURN(PreparedResources ready,
                           research::PrepareResources(file, {}, call.cancel));
  for (const std::string& warning : ready.index.warnings) PrintWarning(call.err, warning);
  return ready;
}

std::string SectionText(const Json& section) {
  return section.is_string() ? std::string(section.as_string()) : std::string();
}

}  // namespace

Result<int> ProbeMachine(const ResearchCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const research::RunConfig config, ReadRunConfig(call.arguments));
  DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make("dossier-probe"));
  const std::vector<std::string> all = ProcessEnvironment();
  const std::vector<std::string> allowed = research::AllowedEnvironment(all);
  const research::ExecConfig& exec = config.exec;
  DOSSIER_ASSIGN_OR_RETURN(const research::BackendFactory backends,
                           research::MakeBackends({.config = &exec,
                                                   .folder = folder.path(),
                                                   .degraded = exec.degraded,
                                                   .host_environment = all}));
  DOSSIER_ASSIGN_OR_RETURN(const std::unique_ptr<research::ExecBackend> backend,
                           backends("worker-0"));
  DOSSIER_RETURN_IF_ERROR(backend->Start({.workspace = folder.path() + "/workspace",
                                          .mount = exec.workspace_mount,
                                          .environment = allowed,
                                          .network = exec.network}));
  using Gpu = research::ProbeConfig::Gpu;
  const research::MachineFacts found =
      research::Probe(*backend,
                      {.environment = allowed,
                       .variables_not_shown = all.size() - allowed.size(),
                       .network = exec.network,
                       .network_probe_host = exec.network_probe_host,
                       .gpu = exec.use_gpu ? Gpu::kYes : Gpu::kNo,
                       .container_runtime = exec.backend == "local" ? "" : exec.backend,
                       .singularity_image = exec.singularity_image,
                       .workspace_mount = exec.workspace_mount,
                       .timeout_seconds = exec.timeout},
                      call.cancel);
  backend->Stop();
  if (call.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", call.cancel.reason());
  JsonObject json{{"schema", "dossier.research.environment/1"}};
  for (auto& [key, value] : research::EnvironmentJson(found)) json[key] = std::move(value);
  call.out << ToPrettyJson(json) << "\n";
  return 0;
}

Result<int> CheckResources(const ResearchCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text,
                           ReadFile(call.arguments.file, research::kMaxResourceFileBytes));
  const Result<ResourceFile> file = ReadResources(call.arguments.file, Mount());
  if (!file) return MakeError(ErrorCode::kCheckFailed, "{}", file.error().message);
  const auto ready = research::PrepareResources(*file, {}, call.cancel);
  if (!ready && ready.error().code == ErrorCode::kNotFound) {
    return MakeError(ErrorCode::kCheckFailed, "{}", ready.error().message);
  }
  if (!ready) return tl::unexpected(ready.error());
  for (const std::string& warning : ready->index.warnings) PrintWarning(call.err, warning);
  if (call.arguments.json) {
    call.out << ToJson(JsonObject{{"schema", "dossier.research.resources/1"},
                                  {"file", call.arguments.file},
                                  {"resources", file->origins.size()},
                                  {"items", file->items.size()},
                                  {"warnings", JsonArray(ready->index.warnings.begin(),
                                                         ready->index.warnings.end())}})
             << "\n";
  } else {
    call.out << fmt::format("{}: {} resources, {} items, nothing wrong\n", call.arguments.file,
                            file->origins.size(), file->items.size());
  }
  return 0;
}

Result<int> DigestResources(const ResearchCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const PreparedResources ready, Prepare(call));
  if (call.arguments.json) {
    JsonObject json = research::ResourceIndexJson(ready.index);
    json["schema"] = "dossier.research.resources/1";
    call.out << ToJson(json) << "\n";
  } else {
    call.out << ready.index.digest << "\n";
  }
  return 0;
}

Result<int> ShowResources(const ResearchCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const PreparedResources ready, Prepare(call));
  const std::string text = SectionText(
      research::ResourcesSection(ready.index, static_cast<research::Phase>(call.arguments.phase)));
  if (call.arguments.json) {
    call.out << ToJson(JsonObject{{"schema", "dossier.research.resources/1"},
                                  {"phase", call.arguments.phase},
                                  {"text", text}})
             << "\n";
  } else {
    call.out << OutputText(text, Terminal::Detect().out);
  }
  return 0;
}

}  // namespace dossier::cli
