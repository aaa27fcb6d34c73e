#include <dossier/agents.h>

#include "agents/run/run.h"
#include "api/access.h"
#include "app/load_config.h"
#include "base/result.h"
#include "sources/commands/context_command.h"

namespace dossier {
namespace {

// Opens the model of a built-in engine: the caller's, else the one that the engine names.
Result<driver::BoundModel> OpenEngineModel(const Model& given, const std::string& name,
                                           const config::Config& config,
                                           const CancelToken& cancel) {
  if (given) {
    DOSSIER_ASSIGN_OR_RETURN(const auto impl, ModelAccess::Of(given));
    driver::BoundModel root = impl->opened.root;
    root.sampling.temperature = impl->temperature;
    return root;
  }
  app::ModelSettings settings{.model = name == "default" ? "" : name};
  DOSSIER_RETURN_IF_ERROR(app::ApplyConfig(config, &settings));
  DOSSIER_ASSIGN_OR_RETURN(app::OpenedModel opened,
                           app::OpenModel(settings, [](std::string_view) {}, cancel));
  opened.root.sampling.temperature = settings.temperature;
  return std::move(opened.root);
}

Result<agents::RunPorts> PortsOf(const AgentsOptions& options) {
  const bool vouched = options.trust == AgentsOptions::Trust::kRepository;
  const auto decide = [&](const config::Question& question) -> Status {
    return vouched ? Status() : app::UseIfApproved(question);
  };
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config,
                           app::LoadProjectConfig(options.repository, decide));
  agents::RunPorts ports{.folder = options.repository, .clock = SystemClock()};
  DOSSIER_ASSIGN_OR_RETURN(ports.agents, app::LoadAgents(config, options.repository, decide));
  ports.environment = sources::CurrentEnvironment();
  ports.journal_folder = config.user.data + "/runs";
  DOSSIER_ASSIGN_OR_RETURN(ports.assets, app::UserAssetFolders(""));
  ports.makers = SectionMakersOf(config, options.cancel);
  ports.cancel = options.cancel;
  if (options.on_warning) ports.warn = options.on_warning;
  ports.watch = WatchOf(options.on_event);
  ports.open_model = [config, given = options.model,
                      cancel = options.cancel](const std::string& name) {
    return OpenEngineModel(given, name, config, cancel);
  };
  return ports;
}

agents::RunOptions RunOptionsOf(const AgentsOptions& options) {
  agents::RunOptions out{.workers = options.workers,
                         .tasks = options.tasks,
                         .only = options.only,
                         .target = options.target,
                         .engineer = options.engineer,
                         .reviewer = options.reviewer,
                         .attempts = options.attempts};
  if (options.merging == AgentsOptions::Merging::kPatchOnly) {
    out.merging = agents::RunOptions::Merging::kDryRun;
  }
  if (options.confinement == AgentsOptions::Confinement::kNone) {
    out.walls.confinement = agents::Confinement::kNone;
  }
  out.walls.degraded = options.degraded;
  out.max_seconds = options.max_seconds;
  out.max_cost = options.max_usd;
  out.max_tokens = options.max_tokens;
  return out;
}

Status CheckAgentsOptions(const AgentsOptions& options) {
  const bool right = options.workers >= 1 && options.workers <= agents::kMaxWorkers &&
                     options.attempts >= 1 && options.attempts <= agents::kMaxAttempts;
  if (right) return {};
  return MakeError(ErrorCode::kInvalidArgument, "workers must be 1 to {}, attempts 1 to {}",
                   agents::kMaxWorkers, agents::kMaxAttempts);
}

AgentsRun RunOf(agents::AgentRunResult summary) {
  AgentsRun out{.run = std::move(summary.run),
                .log = std::move(summary.log_path),
                .not_started = std::move(summary.not_started)};
  for (agents::TaskResult& result : summary.results) {
    out.tasks.push_back({.id = std::move(result.id),
                         .summary = std::move(result.summary),
                         .status = std::string(agents::StatusName(result.status)),
                         .reason = std::move(result.reason),
                         .commit = std::move(result.commit),
                         .patch = std::move(result.patch_file),
                         .attempts = result.attempts});
  }
  return out;
}

}  // namespace

Result<AgentsPlan> PlanAgents(const AgentsOptions& options) {
  DOSSIER_RETURN_IF_ERROR(CheckAgentsOptions(options));
  DOSSIER_ASSIGN_OR_RETURN(const agents::RunPorts ports, PortsOf(options));
  DOSSIER_ASSIGN_OR_RETURN(agents::RunPlan plan, agents::PlanRun(RunOptionsOf(options), ports));
  AgentsPlan out{.base = std::move(plan.base),
                 .branch = std::move(plan.ref),
                 .engineer = std::move(plan.engineer),
                 .reviewer = std::move(plan.reviewer),
                 .problems = std::move(plan.problems)};
  for (agents::RunPlan::Step& step : plan.steps) {
    out.steps.push_back({.task = std::move(step.task),
                         .summary = std::move(step.summary),
                         .prompt_tokens = step.prompt_tokens,
                         .blocked = std::move(step.blocked)});
  }
  return out;
}

Result<AgentsRun> RunAgents(const AgentsOptions& options) {
  DOSSIER_RETURN_IF_ERROR(CheckAgentsOptions(options));
  DOSSIER_ASSIGN_OR_RETURN(const agents::RunPorts ports, PortsOf(options));
  DOSSIER_ASSIGN_OR_RETURN(agents::AgentRunResult summary,
                           agents::RunTasks(RunOptionsOf(options), ports));
  return RunOf(std::move(summary));
}

Result<AgentsRun> ResumeAgents(std::string_view run, const AgentsOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(const agents::RunPorts ports, PortsOf(options));
  DOSSIER_ASSIGN_OR_RETURN(agents::AgentRunResult summary, agents::ResumeRun(run, ports));
  return RunOf(std::move(summary));
}

}  // namespace dossier
