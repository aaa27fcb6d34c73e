// research: a staged run that plans, installs, codes, compiles, runs, measures, plots and writes up
// without a person. This file has its flags and the commands that need no run: probe, resources.
// Results go to stdout, progress to stderr.

#include <utility>

#include "base/files/file.h"
#include "cli/commands.h"
#include "cli/runs/research_setup.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/shared_flags.h"
#include "cli/wiring/value_kinds.h"
#include "research/exec/probe.h"
#include "research/resources/resources.h"
#include "research/run/run_record.h"
#include "research/setup/exec_backends.h"
#include "sources/commands/context_command.h"

namespace dossier::cli {
namespace {

using research::PreparedResources;
using research::ResourceFile;

const std::string& Mount() {
  static const std::string kMount = research::ExecConfig().workspace_mount;
  return kMount;
}

// Works without a run folder, so it fetches nothing.
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

Result<int> ProbeMachine(const ResearchCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const research::RunConfig config, ReadRunConfig(call.arguments));
  DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make("dossier-probe"));
  const std::vector<std::string> all = sources::CurrentEnvironment();
  const research::ExecConfig& exec = config.exec;
  DOSSIER_ASSIGN_OR_RETURN(const research::BackendFactory backends,
                           research::MakeBackends({.config = &exec,
                                                   .folder = folder.path(),
                                                   .degraded = exec.degraded,
                                                   .host_environment = all}));
  DOSSIER_ASSIGN_OR_RETURN(const std::unique_ptr<research::ExecBackend> backend,
                           backends("worker-0"));
  DOSSIER_ASSIGN_OR_RETURN(
      const research::MachineFacts found,
      research::ProbeMachine(exec, *backend,
                             {.workspace = folder.path() + "/workspace", .all_environment = all},
                             call.cancel));
  JsonObject json{{"schema", "dossier.research.environment/1"}};
  for (auto& [key, value] : research::EnvironmentJson(found)) json[key] = std::move(value);
  call.out << ToPrettyJson(json) << "\n";
  return 0;
}

Result<int> CheckResources(const ResearchCall& call) {
  // A missing or too large file is not an invalid one.
  const auto text = ReadFile(call.arguments.file, research::kMaxResourceFileBytes);
  if (!text) return tl::unexpected(text.error());
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

template <Result<int> (*kAction)(const ResearchCall&)>
Result<int> RunResearchAction(const ResearchArguments& given, Context& context) {
  return kAction({given, context.flags, context.cancel, context.out, context.err});
}

template <research::SteerKind kKind>
Result<int> RunSteering(const ResearchArguments& given, Context& context) {
  return SteerResearch({given, context.flags, context.cancel, context.out, context.err}, kKind);
}

constexpr ValueKind kText{"TEXT"};
constexpr ValueKind kRoleName{"ROLE=NAME"}, kSetting{"KEY=VALUE"}, kLayer{"LAYER"}, kNode{"NODE"};

void DeclareResearchJson(Flags& flags, ResearchArguments& to) {
  flags.Add("--json", &to.json, "one object");
}

void DeclareOut(Flags& flags, ResearchArguments& to) {
  flags.Add("--runs-dir", &to.out, "folder of runs").Kind(kFolder).ShowDefault().Formerly("--out");
}

void DeclareResearchRunName(Flags& flags, ResearchArguments& to) {
  flags
      .Add("run", &to.run,
           "folder, or the start of one or of a run's id (the latest under --runs-dir)")
      .Kind(kResearchRun);
  DeclareOut(flags, to);
}

void DeclareSettings(Flags& flags, ResearchArguments& to) {
  flags.Add("--set", &to.settings, "KEY=VALUE of the run's configuration").Kind(kSetting);
}

// Declares the flags that a resume may change, too.
void DeclareChanges(Flags& flags, ResearchArguments& to) {
  flags
      .Add("--until", &to.until,
           "stop behind: phase0 phase1 stage1 stage2 stage3 stage4 plots paper review")
      .OneOf({research::StepNames().begin(), research::StepNames().end()});
  flags
      .Add("-m,--model", &to.models,
           "NAME, or ROLE=NAME; roles: code feedback vlm summary select report cite write review "
           "memory; those without one use that of code")
      .Kind(kRoleName);
  DeclareSettings(flags, to);
  AddLimitFlags(flags, &to.limits);
  AddConnectionFlags(flags, &to.connection);
}

// Declares where commands run, for run and probe.
void DeclareBackend(Flags& flags, ResearchArguments& to) {
  flags.Add("--run-config", &to.config, "the run's configuration").Kind(kPath).Formerly("--config");
  flags.Add("--backend", &to.backend, "where commands are run (local)")
      .OneOf({std::begin(research::kBackendNames), std::end(research::kBackendNames)});
  flags.Add("--image", &to.image, "of apptainer and singularity").Kind(kPath);
  flags.Add("--degraded", &to.degraded, "a wall that may be missing here").Kind(kLayer);
}

// Declares the flags of run and plan.
void DeclareWork(Flags& flags, ResearchArguments& to) {
  flags.Add("idea", &to.idea, "Markdown with headings, or JSON").Kind(kPath).Required();
  DeclareOut(flags, to);
  flags.Add("--name", &to.name, "of the run folder (from the title)");
  flags.Add("--attempt", &to.attempt, "number of this attempt at the idea")
      .NotNegative()
      .ShowDefault();
  flags.Add("--resources", &to.resources, "what is given to the run").Kind(kPath);
  DeclareBackend(flags, to);
  flags.Add("--workers", &to.workers, "programs made in one round").Between(1, 1024);
  flags.Add("--seed", &to.seed, "of the search").NotNegative();
  flags.Add("--stages", &to.stages, "1-4, 2 or 1,3").ShowDefault();
  flags.Add("--no-memory", &to.no_memory, "nothing is remembered from call to call");
  flags.Add("--memory-store", &to.memory, "a store of your own, instead of the run's")
      .Kind(kPath)
      .Formerly("--memory");
  flags.Add("--skip-plots", &to.skip_plots, "no figures");
  flags.Add("--skip-citations", &to.skip_citations, "no literature");
  flags.Add("--skip-writeup", &to.skip_writeup, "no paper");
  flags.Add("--skip-review", &to.skip_review, "no review of the paper");
  flags.Add("--review-bias", &to.review_bias, "of the reviewer (neutral)")
      .OneOf({"neutral", "strict", "lenient"});
  DeclareChanges(flags, to);
  DeclareResearchJson(flags, to);
}

void DeclareResearchRun(Flags& flags, ResearchArguments& to) {
  DeclareWork(flags, to);
  flags.Add("--dry-run", &to.dry_run, "the first prompt and its report; ask nothing");
}

// Node and text are the positional arguments, so a flag names the run.
void DeclareSteering(Flags& flags, ResearchArguments& to) {
  flags.Add("node", &to.node, "its name, as \"draft 2\", or the start of its id")
      .Kind(kNode)
      .Required();
  flags.Add("--run", &to.run, "folder, or the start of one or of a run's id (the latest)")
      .Kind(kResearchRun);
  DeclareOut(flags, to);
  flags.Add("--undo", &to.undo, "take it back");
  DeclareResearchJson(flags, to);
}

void DeclareSteeringText(Flags& flags, ResearchArguments& to) {
  DeclareSteering(flags, to);
  flags.Add("text", &to.text, "none with --undo").Kind(kText);
}

void DeclareResearchStatus(Flags& flags, ResearchArguments& to) {
  DeclareResearchRunName(flags, to);
  flags.Add("--watch", &to.watch, "show it again when it changes, until it ends");
  DeclareResearchJson(flags, to);
}

void DeclareResearchResume(Flags& flags, ResearchArguments& to) {
  DeclareResearchRunName(flags, to);
  flags.Add("--retry-failed", &to.retry_failed, "a run that failed, once more");
  DeclareChanges(flags, to);
  DeclareResearchJson(flags, to);
}

void DeclareTree(Flags& flags, ResearchArguments& to) {
  DeclareResearchRunName(flags, to);
  flags.Add("--stage", &to.stage, "only this one, 1 to 4").Between(1, 4);
  flags.Add("--format", &to.format, "text, json or html (text)").OneOf({"text", "json", "html"});
  DeclareResearchJson(flags, to);
}

void DeclareReport(Flags& flags, ResearchArguments& to) {
  DeclareResearchRunName(flags, to);
  flags.Add("--format", &to.format, "md or json (md)").OneOf({"md", "json"});
  flags.Add("--rewrite", &to.rewrite, "write report.md and the pages anew, without a model");
  DeclareResearchJson(flags, to);
}

void DeclarePrompts(Flags& flags, ResearchArguments& to) {
  DeclareResearchRunName(flags, to);
  flags.Add("node", &to.node, "id, or the start of one").Kind(kNode);
  flags.Add("--show", &to.show, "the text of this one").Kind(kName);
  DeclareResearchJson(flags, to);
}

void DeclareProbe(Flags& flags, ResearchArguments& to) {
  DeclareBackend(flags, to);
  DeclareSettings(flags, to);
  DeclareResearchJson(flags, to);
}

void DeclareResources(Flags& flags, ResearchArguments& to) {
  flags.Add("file", &to.file, "YAML or JSON").Kind(kPath).Required();
  DeclareResearchJson(flags, to);
}

void DeclareShowResources(Flags& flags, ResearchArguments& to) {
  DeclareResources(flags, to);
  flags.Add("--phase", &to.phase, "for a prompt of which phase, 0 to 4")
      .Between(0, 4)
      .ShowDefault();
}

Command ResourcesCommand() {
  return {.name = "resources",
          .summary = "a file of resources: check it, see what it says",
          .examples =
              "dossier research resources check resources.yaml\n"
              "    all faults at once; exit 15 if there are any",
          .commands = {{.name = "check",
                        .summary = "all that is wrong with it, at once",
                        .binding = Bind(DeclareResources, RunResearchAction<CheckResources>)},
                       {.name = "digest",
                        .summary = "the hash over the file and everything it names",
                        .binding = Bind(DeclareResources, RunResearchAction<DigestResources>)},
                       {.name = "show",
                        .summary = "what prompts would say",
                        .binding = Bind(DeclareShowResources, RunResearchAction<ShowResources>)}}};
}

// Returns the commands that start and continue a run.
std::vector<Command> WorkCommands() {
  return {
      {.name = "run",
       .summary = "work on an idea; the run folder is printed",
       .examples = "dossier research run idea.md --stages 1 --set agent.stages.stage1_max_iters=6\n"
                   "    the first stage alone, six programs at most\n"
                   "dossier research run idea.md --model code=openai/gpt-5 --model feedback=local\n"
                   "    a model for each role\n"
                   "dossier research run idea.md --dry-run\n"
                   "    the first prompt, and where its tokens went",
       .binding = Bind(DeclareResearchRun, RunResearchAction<StartResearch>)},
      {.name = "plan",
       .summary = "what such a run would take: calls, tokens, money, hours, disk",
       .examples = "dossier research plan idea.md --price 1.25/10\n"
                   "    from the configuration, and from earlier runs if there are",
       .binding = Bind(DeclareWork, RunResearchAction<PlanResearch>)},
      {.name = "status",
       .summary = "how a run stands, and what it waits for",
       .examples = "dossier research status 2026-01-28\n"
                   "    of the run whose folder begins so",
       .binding = Bind(DeclareResearchStatus, RunResearchAction<ShowResearchStatus>)},
      {.name = "resume",
       .summary = "go on with a run",
       .examples = "dossier research resume --max-cost 10\n"
                   "    with a higher limit",
       .binding = Bind(DeclareResearchResume, RunResearchAction<ResumeResearch>)}};
}

// Returns the commands that change the direction of a run.
std::vector<Command> SteerCommands() {
  return {{.name = "pin",
           .summary = "go on with this node and what comes of it, from the next round on",
           .examples = "dossier research pin \"draft 2\"\n"
                       "    of the latest run, at work or not",
           .binding = Bind(DeclareSteering, RunSteering<research::SteerKind::kPin>)},
          {.name = "prune",
           .summary = "leave this node and what came of it alone",
           .examples = "dossier research prune \"debug 1\"\n"
                       "    nothing more is made of it",
           .binding = Bind(DeclareSteering, RunSteering<research::SteerKind::kPrune>)},
          {.name = "hint",
           .summary = "say what the programs made from this node shall try",
           .examples = "dossier research hint \"draft 2\" \"blocks of 64 rows fit the cache\"\n"
                       "    in the prompts that make something of it",
           .binding = Bind(DeclareSteeringText, RunSteering<research::SteerKind::kHint>)},
          {.name = "name",
           .summary = "call a node something else",
           .examples = "dossier research name \"draft 2\" blocked\n"
                       "    in status, tree, report and pages",
           .binding = Bind(DeclareSteeringText, RunSteering<research::SteerKind::kName>)}};
}

// Returns the commands that show a run, or the machine for one.
std::vector<Command> ViewCommands() {
  return {{.name = "tree",
           .summary = "the nodes: * best, ! buggy, ~ running, s rerun with another seed",
           .examples = "dossier research tree --format html > tree.html\n"
                       "    nodes, prompts and figures as one page",
           .binding = Bind(DeclareTree, RunResearchAction<ShowResearchTree>)},
          {.name = "report",
           .summary = "the report, from what exists; of a killed run, too",
           .examples = "dossier research report --format json\n"
                       "    for a script",
           .binding = Bind(DeclareReport, RunResearchAction<ShowResearchReport>)},
          {.name = "prompts",
           .summary = "the prompts of a run, or of one node",
           .examples = "dossier research prompts 2026-01-28 3f9a --show 0003_draft_a1_r1_prompt\n"
                       "    one prompt of one node",
           .binding = Bind(DeclarePrompts, RunResearchAction<ShowResearchPrompts>)},
          {.name = "probe",
           .summary = "what a model is told about the machine, as JSON",
           .examples = "dossier research probe --backend apptainer --image tools.sif\n"
                       "    what is in the image",
           .binding = Bind(DeclareProbe, RunResearchAction<ProbeMachine>)}};
}

}  // namespace

Command ResearchCommand() {
  Command command{.name = "research",
                  .summary = "work on an idea alone: programs, measurements, plots, a paper",
                  .examples =
                      "dossier research run idea.md --max-cost 5\n"
                      "    a folder with programs, measurements, figures and a report\n"
                      "dossier research status --watch\n"
                      "    where it stands, and what it waits for\n"
                      "dossier research resume\n"
                      "    go on after Ctrl-C or a power cut: no reply is paid for twice"};
  for (const auto& commands : {WorkCommands(), SteerCommands(), ViewCommands()}) {
    command.commands.insert(command.commands.end(), commands.begin(), commands.end());
  }
  command.commands.push_back(ResourcesCommand());
  return command;
}

}  // namespace dossier::cli
