#include "cli/runs/research_command.h"

#include "cli/runs/research_run.h"
#include "cli/runs/research_tools.h"
#include "cli/runs/research_view.h"
#include "cli/tree/exit_codes.h"
#include "cli/tree/failure.h"
#include "research/run/run_record.h"

namespace dossier::cli {
namespace {

void AddOut(CLI::App& command, ResearchArguments* arguments) {
  command.add_option("--out", arguments->out, "folder of runs")
      ->type_name("FOLDER")
      ->capture_default_str();
}

void AddRunName(CLI::App& command, ResearchArguments* arguments) {
  command
      .add_option("run", arguments->run,
                  "folder, or the start of one or of a run's id (the latest under --out)")
      ->type_name("RESEARCH_RUN");
  AddOut(command, arguments);
}

// What a resume may change, too.
void AddResumeFlags(CLI::App& command, ResearchArguments* arguments) {
  command
      .add_option("--until", arguments->until,
                  "stop behind: phase0 phase1 stage1 stage2 stage3 stage4 plots paper review")
      ->check(CLI::IsMember(
          std::vector<std::string>(research::StepNames().begin(), research::StepNames().end())));
  command
      .add_option("--model", arguments->models,
                  "ROLE=NAME; roles: code feedback vlm summary select report cite write review "
                  "memory; those without one use that of code")
      ->type_name("ROLE=NAME")
      ->allow_extra_args(false);
  command.add_option("--set", arguments->settings, "KEY=VALUE of the run's configuration")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  AddLimitFlags(command, &arguments->limits);
  AddConnectionFlags(command, &arguments->connection);
}

// Where commands are run: of run and probe.
void AddBackendFlags(CLI::App& command, ResearchArguments* arguments) {
  command.add_option("--config", arguments->config, "the run's configuration")->type_name("PATH");
  command.add_option("--backend", arguments->backend, "where commands are run (local)")
      ->check(CLI::IsMember({"local", "apptainer", "singularity", "slurm"}));
  command.add_option("--image", arguments->image, "of apptainer and singularity")
      ->type_name("PATH");
  command.add_option("--degraded", arguments->degraded, "a layer of isolation that may be missing")
      ->type_name("LAYER")
      ->allow_extra_args(false);
}

void AddRun(CLI::App& research, ResearchArguments* arguments) {
  CLI::App& run = *research.add_subcommand("run", "work on an idea; the run folder is printed");
  run.add_option("idea", arguments->idea, "Markdown with headings, or JSON")
      ->type_name("PATH")
      ->required();
  AddOut(run, arguments);
  run.add_option("--name", arguments->name, "of the run folder (from the title)");
  run.add_option("--attempt", arguments->attempt, "number of this attempt at the idea")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  run.add_option("--resources", arguments->resources, "what is given to the run")
      ->type_name("PATH");
  AddBackendFlags(run, arguments);
  run.add_option("--workers", arguments->workers, "programs made in one round")
      ->check(CLI::Range(1, 1024));
  run.add_option("--seed", arguments->seed, "of the search")->check(CLI::NonNegativeNumber);
  run.add_option("--stages", arguments->stages, "1-4, 2 or 1,3")->capture_default_str();
  run.add_flag("--no-memory", arguments->no_memory, "nothing is remembered from call to call");
  run.add_option("--memory", arguments->memory, "a store of your own, instead of the run's")
      ->type_name("PATH");
  run.add_flag("--skip-plots", arguments->skip_plots, "no figures");
  run.add_flag("--skip-citations", arguments->skip_citations, "no literature");
  run.add_flag("--skip-writeup", arguments->skip_writeup, "no paper");
  run.add_flag("--skip-review", arguments->skip_review, "no review of the paper");
  run.add_option("--review-bias", arguments->review_bias, "of the reviewer (neutral)")
      ->check(CLI::IsMember({"neutral", "strict", "lenient"}));
  run.add_flag("--dry-run", arguments->dry_run, "the first prompt and its report; ask nothing");
  AddResumeFlags(run, arguments);
}

void AddResources(CLI::App& research, ResearchArguments* arguments) {
  CLI::App& resources =
      *research.add_subcommand("resources", "a file of resources: check it, see what it says");
  resources.require_subcommand(1);
  constexpr std::pair<const char*, const char*> kActions[] = {
      {"check", "all that is wrong with it, at once"},
      {"digest", "the hash over the file and everything it names"},
      {"show", "what prompts would say"}};
  for (const auto& [name, about] : kActions) {
    CLI::App& command = *resources.add_subcommand(name, about);
    command.add_option("file", arguments->file, "YAML or JSON")->type_name("PATH")->required();
    command.add_flag("--json", arguments->json, "one object");
    const std::string action = name;
    command.callback([arguments, action] { arguments->action = action; });
    if (action != "show") continue;
    command.add_option("--phase", arguments->phase, "for a prompt of which phase, 0 to 4")
        ->check(CLI::Range(0, 4))
        ->capture_default_str();
  }
}

void AddReadingCommands(CLI::App& research, ResearchArguments* arguments) {
  CLI::App& tree = *research.add_subcommand(
      "tree", "the nodes: * best, ! buggy, ~ running, s rerun with another seed");
  AddRunName(tree, arguments);
  tree.add_option("--stage", arguments->stage, "only this one, 1 to 4")->check(CLI::Range(1, 4));
  tree.add_option("--format", arguments->format, "text, json or html (text)")
      ->check(CLI::IsMember({"text", "json", "html"}));
  CLI::App& report =
      *research.add_subcommand("report", "the report, from what exists; of a killed run, too");
  AddRunName(report, arguments);
  report.add_option("--format", arguments->format, "md or json (md)")
      ->check(CLI::IsMember({"md", "json"}));
  report.add_flag("--rewrite", arguments->rewrite,
                  "write report.md and the pages anew, without a model");
  CLI::App& prompts = *research.add_subcommand("prompts", "the prompts of a run, or of one node");
  AddRunName(prompts, arguments);
  prompts.add_option("node", arguments->node, "id, or the start of one")->type_name("NODE");
  prompts.add_option("--show", arguments->show, "the text of this one")->type_name("NAME");
}

}  // namespace

void AddResearchCommand(CLI::App& research, ResearchArguments* arguments) {
  research.require_subcommand(1);
  AddRun(research, arguments);
  CLI::App& status = *research.add_subcommand("status", "how a run stands, and what it waits for");
  AddRunName(status, arguments);
  status.add_flag("--watch", arguments->watch, "show it again when it changes, until it ends");
  CLI::App& resume = *research.add_subcommand("resume", "go on with a run");
  AddRunName(resume, arguments);
  resume.add_flag("--retry-failed", arguments->retry_failed, "a run that failed, once more");
  AddResumeFlags(resume, arguments);
  AddReadingCommands(research, arguments);
  CLI::App& probe =
      *research.add_subcommand("probe", "what a model is told about the machine, as JSON");
  AddBackendFlags(probe, arguments);
  probe.add_option("--set", arguments->settings, "KEY=VALUE of the run's configuration")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  for (CLI::App* action : research.get_subcommands([](CLI::App*) { return true; })) {
    action->add_flag("--json", arguments->json, "one object");
    action->callback([arguments, action] { arguments->action = action->get_name(); });
  }
  AddResources(research, arguments);
}

int RunResearch(const ResearchArguments& arguments, const GlobalFlags& flags,
                const CancelToken& cancel, std::ostream& out, std::ostream& err) {
  constexpr std::pair<std::string_view, Result<int> (*)(const ResearchCall&)> kActions[] = {
      {"run", StartResearch},     {"resume", ResumeResearch},     {"status", ShowResearchStatus},
      {"tree", ShowResearchTree}, {"report", ShowResearchReport}, {"prompts", ShowResearchPrompts},
      {"probe", ProbeMachine},    {"check", CheckResources},      {"digest", DigestResources},
      {"show", ShowResources}};
  for (const auto& [name, action] : kActions) {
    if (arguments.action != name) continue;
    const Result<int> code = action({arguments, flags, cancel, out, err});
    out << std::flush;
    if (!code) return Fail(code.error(), FormOf(arguments.json), out, err);
    return out.good() ? *code : kExitClosedStdout;
  }
  return Fail({ErrorCode::kInternal, "research " + arguments.action + " is no command"},
              FormOf(arguments.json), out, err);
}

}  // namespace dossier::cli
