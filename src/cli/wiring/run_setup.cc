#include "cli/wiring/run_setup.h"

#include "agents/run/run.h"
#include "app/section_makers.h"
#include "base/text/text.h"
#include "cli/terminal/terminal.h"
#include "sources/header/task.h"

namespace dossier::cli {

driver::SectionMakers SectionMakersFor(const SectionMakerSetting& setting) {
  const GlobalFlags flags = setting.flags;
  std::ostream& err = setting.err;
  return app::SectionMakersFor(
      {.config = [flags, &err] { return LoadConfig(flags, {}, err); },
       .agents = [flags, &err] { return LoadAgents(flags, err); },
       .done_tasks = DoneTasksOf,
       .warn = [&err](std::string_view warning) { PrintWarning(err, warning); },
       .cancel = setting.cancel,
       .now = setting.now});
}

Result<sources::AgentsConfig> LoadAgents(const GlobalFlags& flags, const config::Config& config,
                                         std::ostream& err) {
  return app::LoadAgents(config, ".", DecideBy(flags, err));
}

Result<sources::AgentsConfig> LoadAgents(const GlobalFlags& flags, std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(flags, {}, err));
  return LoadAgents(flags, config, err);
}

sources::DoneTasks DoneTasksOf(const sources::AgentsConfig& config) {
  return [config](std::span<const sources::Task> tasks) {
    agents::RunPorts ports;
    ports.agents = config;
    return agents::MergedTasks(tasks, ports);
  };
}

Result<driver::LayoutSources> LayoutSourcesFor(const GlobalFlags& flags, const CancelToken& cancel,
                                               std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(assembly::AssetFolders folders, AssetFoldersFor("", flags, err));
  return driver::LayoutSources{
      std::move(folders),
      SectionMakersFor({.flags = flags, .cancel = cancel, .err = err, .now = {}})};
}

Result<PreparedContext> PrepareContext(const ContextFlags& flags, const config::Config& config) {
  const auto deadline = ParseDuration(flags.timeout);
  if (!deadline || *deadline <= Millis(0)) {
    return MakeError(ErrorCode::kUsage, "--context-timeout {}: must be a time above 0, such as 90s",
                     flags.timeout);
  }
  for (const std::string& command : flags.exec) {
    if (TrimSpace(command).empty())
      return MakeError(ErrorCode::kUsage, "--exec: no command is given");
  }
  return app::PrepareContext(
      {.exec = flags.exec, .variables = flags.variables, .jobs = flags.jobs, .deadline = *deadline},
      config);
}

}  // namespace dossier::cli
