#include "cli/runs/agents_command.h"

#include "agents/task/run_options.h"
#include "cli/runs/agents_run.h"
#include "cli/runs/agents_status.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/failure.h"
#include "cli/wiring/model_flags.h"

namespace dossier::cli {
namespace {

void AddWorkFlags(CLI::App& command, AgentsArguments* arguments) {
  command.add_option("--workers", arguments->workers, "tasks at the same time, 1 to 64")
      ->check(CLI::Range(std::int64_t{1}, agents::kMaxWorkers))
      ->capture_default_str();
  command.add_option("--target", arguments->target, "branch to merge into (the current one)")
      ->type_name("BRANCH");
  command.add_option("--engineer", arguments->engineer, "engine that makes the changes")
      ->type_name("ENGINE");
  command.add_option("--reviewer", arguments->reviewer, "engine that judges them")
      ->type_name("ENGINE");
  command.add_option("--attempts", arguments->attempts, "how often a task is tried, 1 to 10")
      ->check(CLI::Range(std::int64_t{1}, agents::kMaxAttempts))
      ->capture_default_str();
  command.add_flag("--dry-run", arguments->dry_run, "all but the merge; patches are kept");
  command.add_flag("--plan", arguments->plan, "order, base, engines, prompt tokens; start nothing");
  command.add_option("--confine", arguments->confine, "walls around engines")
      ->check(CLI::IsMember({"landlock", "none"}))
      ->capture_default_str();
  AddLimitFlags(command, &arguments->limits);
  command.add_flag("--keep-worktrees", arguments->keep_worktrees, "leave the worktrees of engines");
  command.add_flag("--no-notes", arguments->no_notes, "write no notes about refusals");
  command.add_option("--script", arguments->script, "replies of the model `scripted`")
      ->group("Model");
}

void AddReadingCommands(CLI::App& agents, AgentsArguments* arguments) {
  CLI::App& context = *agents.add_subcommand(
      "context", "the repository header, or the prompt that a run would send");
  context.add_option("--role", arguments->role, "whose prompt")
      ->check(CLI::IsMember({"engineer", "reviewer", "cto"}));
  context.add_option("--task", arguments->task, "of which task")->type_name("TASK");
  context.add_flag("--report", arguments->report, "what the prompt is made of, instead of it");
  agents.add_subcommand("lint-notes", "what is wrong with the notes");
  CLI::App& status = *agents.add_subcommand("status", "how the tasks of a run ended");
  status.add_option("run", arguments->run, "id, or the start of one (the latest)")
      ->type_name("AGENT_RUN");
  status.add_flag("--follow", arguments->follow, "show results as they come, until the run ends");
  CLI::App& resume = *agents.add_subcommand("resume", "go on with an interrupted run");
  resume.add_option("run", arguments->run, "id, or the start of one (the latest)")
      ->type_name("AGENT_RUN");
  resume.add_flag("--abandon", arguments->abandon, "close it: worktrees, claims, tasks are free");
  resume.add_option("--script", arguments->script, "replies of the model `scripted`")
      ->group("Model");
  AddPriceFlag(resume, "Model", &arguments->limits.prices);
}

}  // namespace

void AddAgentsCommand(CLI::App& agents, AgentsArguments* arguments) {
  agents.require_subcommand(1);
  CLI::App& run = *agents.add_subcommand("run", "work the queue of tasks");
  run.add_option("--tasks", arguments->tasks,
                 "list of tasks or folder queue, instead of those configured")
      ->type_name("PATH")
      ->allow_extra_args(false);
  run.add_option("--only", arguments->only, "only these tasks")
      ->type_name("TASK")
      ->allow_extra_args(false);
  AddWorkFlags(run, arguments);
  CLI::App& prompt = *agents.add_subcommand("prompt", "one task from the command line");
  prompt.add_option("--targets", arguments->targets, "paths it may touch (src,tests,docs)")
      ->type_name("CSV");
  AddWorkFlags(prompt, arguments);
  prompt.add_option("text", arguments->text, "what is to be done, behind --; - for stdin")
      ->required();
  AddReadingCommands(agents, arguments);
  for (CLI::App* action : agents.get_subcommands([](CLI::App*) { return true; })) {
    action->add_flag("--json", arguments->json, "one object");
    action->callback([arguments, action] { arguments->action = action->get_name(); });
  }
}

int RunAgents(const AgentsArguments& arguments, const GlobalFlags& flags, const CancelToken& cancel,
              std::istream& in, std::ostream& out, std::ostream& err) {
  const auto run = [&]() -> Result<int> {
    if (arguments.action == "status") {
      return ShowAgentsStatus(arguments, flags, cancel, out, err);
    }
    if (arguments.action == "lint-notes") return LintAgentNotes(arguments, flags, out, err);
    if (arguments.action == "context") {
      return ShowAgentContext(arguments, flags, cancel, out, err);
    }
    return RunAgentsWork(arguments, flags, cancel, {in, out, err});
  };
  const Result<int> code = run();
  out << std::flush;
  if (code) return *code;
  Error error = code.error();
  // A disk that is full stops a run; it is no file that a person named.
  if (error.code == ErrorCode::kIo) error.code = ErrorCode::kFailed;
  return Fail(error, FormOf(arguments.json), out, err);
}

}  // namespace dossier::cli
