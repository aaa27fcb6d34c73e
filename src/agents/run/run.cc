#include "agents/run/run.h"

#include <fmt/format.h>

#include "agents/run/preflight.h"
#include "agents/run/run_setup.h"
#include "agents/run/schedule.h"
#include "agents/run/task_merge.h"
#include "agents/run/whole_run.h"
#include "agents/task/task_json.h"
#include "base/process/child.h"

namespace dossier::agents {
// Returns everything that is recorded at the start, for a resume.
JsonObject StartedEvent(const RunSetup& setup, const RunOptions& options) {
  JsonArray tasks;
  for (const sources::Task& task : setup.tasks()) {
    if (!setup.left_out().contains(task.id)) tasks.push_back(TaskToJson(task));
  }
  const std::size_t count = tasks.size();
  return {{"kind", "agents"},
          {"question",
           fmt::format("agents: {} task{} on {}", count, count == 1 ? "" : "s", setup.ref())},
          {"model", fmt::format("{} + {}", setup.engineer_name(), setup.reviewer_name())},
          {"repository", setup.ground().git.folders().common},
          {"root", setup.ground().root},
          {"ref", setup.ref()},
          {"base", setup.base()},
          {"policy_file", setup.policy().file},
          {"policy_sha256", setup.policy().sha256},
          {"options", OptionsToJson(options)},
          {"tasks", std::move(tasks)}};
}

Result<std::string> RunLogFolder(const RunPorts& ports) {
  const auto folders = FindGitFolders(ports.folder);
  if (!folders) return MakeError(ErrorCode::kNotFound, "{}", NoWorkTree(ports.folder));
  if (!ports.agents.runs.empty()) {
    return ports.agents.runs.front() == '/'
               ? ports.agents.runs
               : fmt::format("{}/{}", folders->root, ports.agents.runs);
  }
  return folders->common + "/dossier/runs";
}

Result<AgentRunResult> RunTasks(const RunOptions& options, const RunPorts& ports) {
  HideMemory();  // hides the approval key, which no engine may read
  DOSSIER_ASSIGN_OR_RETURN(RunGround ground, RunGround::Find(ports));
  DOSSIER_RETURN_IF_ERROR(RecoverFirst(ground, ports));
  DOSSIER_ASSIGN_OR_RETURN(auto setup, RunSetup::Read(options, ports, std::move(ground)));
  DOSSIER_ASSIGN_OR_RETURN(const Preflight found, LookAhead(*setup, options, ports));
  DOSSIER_RETURN_IF_ERROR(RefuseProblems(*setup, found));
  RunBudget budget(options, ports.cancel, ports.clock);
  DOSSIER_RETURN_IF_ERROR(setup->MakeEngines(budget));
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, RunLogFolder(ports));
  DOSSIER_ASSIGN_OR_RETURN(auto log, AgentLog::Start(PlacesOf(ports, folder, setup->secrets()),
                                                     StartedEvent(*setup, options)));
  DOSSIER_RETURN_IF_ERROR(LogWarnings(found, log.get()));
  return WorkAll({options, ports, *setup, budget}, std::move(log), nullptr);
}

Result<RunPlan> PlanRun(const RunOptions& options, const RunPorts& ports) {
  DOSSIER_ASSIGN_OR_RETURN(RunGround ground, RunGround::Find(ports));
  DOSSIER_ASSIGN_OR_RETURN(const auto setup, RunSetup::Read(options, ports, std::move(ground)));
  DOSSIER_ASSIGN_OR_RETURN(const Preflight found, LookAhead(*setup, options, ports));
  if (!setup->faults().empty()) DOSSIER_RETURN_IF_ERROR(RefuseProblems(*setup, found));
  RunPlan plan{.base = setup->base(),
               .ref = setup->ref(),
               .engineer = setup->engineer_name(),
               .reviewer = setup->reviewer_name(),
               .problems = found.problems};
  for (const std::string& warning : found.warnings) {
    if (ports.warn) ports.warn(warning);
  }
  const Schedule schedule(setup->tasks(), setup->merged(), setup->left_out());
  const RoleEngine engineer{ports.agents.FindEngine(plan.engineer), nullptr};
  const auto kind =
      engineer.config ? engineer.prompt_kind() : sources::AgentPromptInput::Engine::kWorktree;
  for (const std::size_t place : schedule.Order()) {
    const sources::Task& task = setup->tasks()[place];
    const WorkPrompt prompt(setup->prompts(), {.engine = kind, .task = &task});
    DOSSIER_ASSIGN_OR_RETURN(const sources::AgentPrompt made, prompt.ForProgram());
    plan.steps.push_back({.task = task.id,
                          .summary = task.summary,
                          .prompt_tokens = made.assembled.tokens,
                          .blocked = {}});
  }
  for (const Blocked& one : schedule.blocked()) {
    const sources::Task& task = setup->tasks()[one.task];
    plan.steps.push_back({.task = task.id, .summary = task.summary, .blocked = one.reason});
  }
  return plan;
}

Result<RolePrompt> PromptOf(std::string_view role, std::string_view id, const RunPorts& ports) {
  DOSSIER_ASSIGN_OR_RETURN(RunGround ground, RunGround::Find(ports));
  const RunOptions options{.walls = {.confinement = Confinement::kNone}};
  DOSSIER_ASSIGN_OR_RETURN(const auto setup, RunSetup::Make(options, ports, std::move(ground)));
  DOSSIER_ASSIGN_OR_RETURN(const sources::Task task, sources::FindTask(setup->tasks(), id));
  const bool review = role != "engineer";
  const std::string& name = review ? setup->reviewer_name() : setup->engineer_name();
  PromptContent content{
      .role = review ? sources::AgentRole::kReviewer : sources::AgentRole::kEngineer,
      .engine = RoleEngine{ports.agents.FindEngine(name), nullptr}.prompt_kind(),
      .task = &task};
  if (review) {
    content.patch = "(the patch)\n";
    content.token = "APPROVED-(the token)";
  }
  DOSSIER_ASSIGN_OR_RETURN(sources::AgentPrompt made,
                           WorkPrompt(setup->prompts(), std::move(content)).ForProgram());
  return RolePrompt{sources::PromptText(made.assembled.messages), std::move(made.assembled.report),
                    std::move(made.warnings)};
}

}  // namespace dossier::agents
