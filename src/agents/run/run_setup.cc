#include "agents/run/run_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "agents/engine/process_engine.h"
#include "agents/task/task_json.h"
#include "base/files/file.h"
#include "base/random.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "sources/header/task.h"

namespace dossier::agents {
namespace {

constexpr std::string_view kHeads = "refs/heads/";
constexpr std::size_t kBoundaryDigits = 32;

std::string Near(std::string_view name, const std::vector<std::string>& names) {
  if (std::string near = DidYouMean(name, names, 3); !near.empty()) return near;
  return names.empty() ? std::string() : fmt::format("; there are {}", Join(names, ", "));
}

// Adds a control file by its path from the root. For a link, its target is added too.
void AddControl(const std::string& root, std::string_view path, SteeringFiles* control) {
  namespace fs = std::filesystem;
  if (path.empty()) return;
  std::error_code error;
  const fs::path at_root = fs::weakly_canonical(root, error);
  const fs::path whole = fs::path(root) / path;  // an absolute path is unchanged
  for (const fs::path& place : {whole.lexically_normal(), fs::weakly_canonical(whole, error)}) {
    for (const fs::path& from : {fs::path(root), at_root}) {
      const std::string below = place.lexically_relative(from).string();
      const bool inside =
          !below.empty() && below != "." && below != ".." && !below.starts_with("../");
      if (inside) control->paths.push_back(below);
    }
  }
}

// One per repository, so that all runs have the same prompt prefix.
Result<std::string> Boundary(const StateFolder& state) {
  const std::string path = state.path() + "/boundary";
  if (const auto kept = ReadFile(path, 1024); kept && TrimSpace(*kept).size() == kBoundaryDigits) {
    return std::string(TrimSpace(*kept));
  }
  const std::string fresh = RandomHex(kBoundaryDigits);
  DOSSIER_RETURN_IF_ERROR(WriteStateFile(path, fresh + "\n", Durability::kSurvivesPowerLoss));
  return fresh;
}

// The engineer may change a program or script in the worktree, so files named by the command line
// are those of the checkout, whatever folder the engine runs in.
void UseOwnFiles(const std::string& root, const std::vector<std::string>& environment,
                 std::vector<std::string>* argv) {
  std::error_code ignored;
  for (std::string& word : *argv) {
    const bool program = &word == &argv->front();
    if (word.empty() || word.find_first_of("/{-") == 0) continue;
    if (program && word.starts_with("~/")) {
      word = WholePath(word, root, environment);
    } else if (program
                   ? word.find('/') != std::string::npos
                   : std::filesystem::is_regular_file(fmt::format("{}/{}", root, word), ignored)) {
      word = fmt::format("{}/{}", root, word);
    }
  }
}

}  // namespace

Result<RunGround> RunGround::Find(const RunPorts& ports) {
  const auto folders = FindGitFolders(ports.folder);
  if (!folders) {
    return MakeError(ErrorCode::kNotFound, "{}; `dossier agents` needs a repository to merge into",
                     NoWorkTree(ports.folder));
  }
  DOSSIER_ASSIGN_OR_RETURN(Git git, Git::Open(*folders, {}, ports.cancel));
  DOSSIER_ASSIGN_OR_RETURN(StateFolder state, StateFolder::Open(folders->common));
  return RunGround{std::move(git), std::move(state), folders->root};
}

Result<std::string> TargetRef(const Git& git, const std::string& target) {
  std::string ref = std::string(kHeads) + target;
  const GitPlace place{.git_dir =
                           git.folders().git.empty() ? git.folders().common : git.folders().git};
  if (target.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult head,
                             git.Run(place, {.arguments = {"symbolic-ref", "-q", "HEAD"}}));
    ref = TrimSpace(head.out);
    if (head.exit_code != 0 || !ref.starts_with(kHeads)) {
      return MakeError(ErrorCode::kNotFound,
                       "HEAD is detached; --target BRANCH says where to merge");
    }
  }
  DOSSIER_ASSIGN_OR_RETURN(
      const ProcessResult found,
      git.Run(git.Objects(), {.arguments = {"rev-parse", "--verify", "-q", ref + "^{commit}"}}));
  if (found.exit_code == 0) return ref;
  DOSSIER_ASSIGN_OR_RETURN(
      const std::string all,
      git.Ask(git.Objects(),
              {.arguments = {"for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"}}));
  std::vector<std::string> names;
  for (const std::string_view name : Split(TrimSpace(all), '\n')) {
    if (!name.empty()) names.emplace_back(name);
  }
  const std::string name = ref.substr(kHeads.size());
  return MakeError(ErrorCode::kNotFound, "there is no branch {} with a commit{}", name,
                   Near(name, names));
}

RunSetup::RunSetup(const RunOptions& options, const RunPorts& ports, RunGround ground,
                   const std::string& runs_folder)
    : options_(options), ports_(ports), ground_(std::move(ground)), records_(runs_folder) {}

Result<std::unique_ptr<RunSetup>> RunSetup::Make(const RunOptions& options, const RunPorts& ports,
                                                 RunGround ground) {
  DOSSIER_ASSIGN_OR_RETURN(auto setup, Read(options, ports, std::move(ground)));
  for (const auto* errors : {&setup->faults_, &setup->lacking_engines_}) {
    if (!errors->empty()) return tl::unexpected(errors->front());
  }
  return setup;
}

Result<std::unique_ptr<RunSetup>> RunSetup::Read(const RunOptions& options, const RunPorts& ports,
                                                 RunGround ground) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string runs, RunLogFolder(ports));
  std::unique_ptr<RunSetup> setup(new RunSetup(options, ports, std::move(ground), runs));
  DOSSIER_ASSIGN_OR_RETURN(setup->walls_, TryWalls(options.walls));
  DOSSIER_RETURN_IF_ERROR(setup->FindTarget());
  setup->NameEngines();
  for (const auto step : {&RunSetup::ReadPolicy, &RunSetup::ReadTasks, &RunSetup::PreparePrompts}) {
    if (Status read = (setup.get()->*step)(); !read) setup->faults_.push_back(read.error());
  }
  return setup;
}

Status RunSetup::FindTarget() {
  DOSSIER_ASSIGN_OR_RETURN(ref_, TargetRef(ground_.git, options_.target));
  DOSSIER_ASSIGN_OR_RETURN(base_, ground_.git.AskLine(ground_.git.Objects(), {"rev-parse", ref_}));
  return {};
}

Status RunSetup::ReadPolicy() {
  DOSSIER_ASSIGN_OR_RETURN(policy_, sources::LoadChangePolicy(ground_.root, ports_.agents.policy));
  if (ports_.warn) {
    for (const std::string& warning : policy_.warnings) ports_.warn(warning);
  }
  control_ = DefaultControlFiles();
  const sources::AgentsConfig& agents = ports_.agents;
  for (const std::string& path : {policy_.file, agents.policy, agents.prompts, agents.runs}) {
    AddControl(ground_.root, path, &control_);
  }
  constexpr std::string_view kNotes = "notes:";
  for (const auto* tasks : {&agents.tasks, &options_.tasks}) {
    for (const std::string& path : *tasks) {
      const bool notes = path.starts_with(kNotes);
      AddControl(ground_.root,
                 notes ? fmt::format("{}/{}", agents.notes, path.substr(kNotes.size())) : path,
                 &control_);
    }
  }
  return {};
}

Status RunSetup::ReadTasks() {
  if (options_.ad_hoc) {
    tasks_ = {*options_.ad_hoc};
    return {};
  }
  const std::vector<std::string>& given =
      options_.tasks.empty() ? ports_.agents.tasks : options_.tasks;
  DOSSIER_ASSIGN_OR_RETURN(sources::TaskList list,
                           sources::LoadTasks(ground_.root, given, ports_.agents.notes));
  if (ports_.warn) {
    for (const std::string& warning : list.warnings) ports_.warn(warning);
  }
  tasks_ = std::move(list.tasks);
  completed_.insert(list.completed.begin(), list.completed.end());
  DOSSIER_RETURN_IF_ERROR(FindMerged());
  DOSSIER_RETURN_IF_ERROR(sources::CheckDependencies(tasks_, merged_, ground_.root));
  if (options_.only.empty()) return {};
  for (const std::string& id : options_.only) {
    DOSSIER_RETURN_IF_ERROR(sources::FindTask(tasks_, id));
  }
  const std::set<std::string> only(options_.only.begin(), options_.only.end());
  for (const sources::Task& task : tasks_) {
    if (!only.contains(task.id)) left_out_.insert(task.id);
  }
  return {};
}

std::set<std::string> MergedInto(const std::string& ref, std::span<const sources::Task> tasks,
                                 const RunRecords& records, const Git& git) {
  std::map<std::string, std::string> commits;  // by task
  std::vector<std::string> outside{"rev-list", "^" + ref};
  for (const sources::Task& task : tasks) {
    const auto merge = records.FindMerge(task.id);
    if (!merge || merge->record.commit.empty() || merge->record.digest != TaskDigest(task)) {
      continue;
    }
    commits.emplace(task.id, merge->record.commit);
    outside.push_back(merge->record.commit);
  }
  if (commits.empty()) return {};
  // One call for all; it prints the commits that the branch does not have.
  const auto missing = git.Ask(git.Objects(), {.arguments = std::move(outside)});
  if (!missing) return {};
  std::set<std::string> done;
  for (const auto& [task, commit] : commits) {
    if (missing->find(commit) == std::string::npos) done.insert(task);
  }
  return done;
}

std::set<std::string> MergedTasks(std::span<const sources::Task> tasks, const RunPorts& ports) {
  const auto folder = RunLogFolder(ports);
  if (!folder || RunLogFiles(*folder).empty()) return {};
  RunRecords records(*folder);
  if (!records.Refresh()) return {};
  const auto folders = FindGitFolders(ports.folder);
  const auto git = folders ? Git::Open(*folders, {}, ports.cancel)
                           : Result<Git>(MakeError(ErrorCode::kNotFound, "no repository"));
  if (!git) return {};
  const auto head = git->AskLine({.git_dir = folders->git.empty() ? folders->common : folders->git},
                                 {"rev-parse", "HEAD"});
  return head ? MergedInto(*head, tasks, records, *git) : std::set<std::string>();
}

// A task counts as merged if a recorded run merged it and the branch still has the commit.
Status RunSetup::FindMerged() {
  merged_ = completed_;
  DOSSIER_RETURN_IF_ERROR(records_.Refresh());
  std::set<std::string> wanted;
  for (const sources::Task& task : tasks_) {
    wanted.insert(task.dependencies.begin(), task.dependencies.end());
  }
  for (const std::string& id : wanted) {
    const auto merge = records_.FindMerge(id);
    if (!merge) continue;
    DOSSIER_ASSIGN_OR_RETURN(
        const ProcessResult inside,
        ground_.git.Run(ground_.git.Objects(), {.arguments = {"merge-base", "--is-ancestor",
                                                              merge->record.commit, base_}}));
    if (merge->record.commit.empty() || inside.exit_code == 0) merged_.insert(id);
  }
  done_ = MergedInto(base_, tasks_, records_, ground_.git);
  return {};
}

void RunSetup::AddFinished(const RunProgress& progress) {
  for (const sources::Task& task : progress.tasks) {
    const TaskProgress& state = progress.progress.at(task.id);
    if (FindString(Json(state.result), "status").value_or("") == "merged") merged_.insert(task.id);
    const bool known = std::any_of(tasks_.begin(), tasks_.end(),
                                   [&](const sources::Task& one) { return one.id == task.id; });
    if (!known) tasks_.push_back(task);
  }
}

void RunSetup::NameEngines() {
  const sources::AgentsConfig& agents = ports_.agents;
  const auto lacking = [&](tl::unexpected<Error> error) {
    lacking_engines_.push_back(std::move(error.value()));
  };
  engineer_name_ = options_.engineer.empty() ? agents.engineer : options_.engineer;
  reviewer_name_ = options_.reviewer.empty() ? agents.reviewer : options_.reviewer;
  for (const auto& [role, name] :
       {std::pair("engineer", engineer_name_), std::pair("reviewer", reviewer_name_)}) {
    if (name.empty()) {
      lacking(MakeError(ErrorCode::kConfig,
                        "no engine is chosen for the {0}: set agents.{0} in dossier.yml, or give "
                        "--{0}",
                        role));
    } else if (!agents.FindEngine(name)) {
      lacking(MakeError(ErrorCode::kNotFound, "there is no engine {}{}", name,
                        Near(name, agents.EngineNames())));
    }
  }
}

Status RunSetup::PreparePrompts() {
  source_ = std::make_unique<sources::HeaderSource>(
      ground_.root, ports_.agents, ports_.cancel,
      [this](std::span<const sources::Task>) { return done_; });
  prompts_.source = source_.get();
  prompts_.clock = ports_.clock;
  prompts_.folders = ports_.assets;
  prompts_.makers = ports_.makers;
  prompts_.warn = ports_.warn;
  prompts_.cancel = ports_.cancel;
  DOSSIER_ASSIGN_OR_RETURN(prompts_.boundary, Boundary(ground_.state));
  if (!policy_.file.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(prompts_.policy,
                             ReadFile(fmt::format("{}/{}", ground_.root, policy_.file)));
  }
  using sources::AgentRole;
  DOSSIER_ASSIGN_OR_RETURN(prompts_.engineer, sources::FindCustomPrompt(ground_.root, ports_.agents,
                                                                        AgentRole::kEngineer));
  DOSSIER_ASSIGN_OR_RETURN(prompts_.reviewer, sources::FindCustomPrompt(ground_.root, ports_.agents,
                                                                        AgentRole::kReviewer));
  if (!prompts_.reviewer) return {};
  const Status checked = CheckTokenLines(prompts_.reviewer->text, "{approval_token}");
  if (checked) return {};
  return MakeError(checked.error().code, "{}: {}", prompts_.reviewer->file,
                   checked.error().message);
}

std::vector<std::string> RunSetup::ArgvOf(const sources::AgentEngine& engine) const {
  std::vector<std::string> argv = engine.argv;
  UseOwnFiles(ground_.root, ports_.environment, &argv);
  return argv;
}

Status RunSetup::MakeEngines(RunBudget& budget) {
  DOSSIER_ASSIGN_OR_RETURN(engineer_, MakeEngine(engineer_name_, budget));
  DOSSIER_ASSIGN_OR_RETURN(reviewer_, MakeEngine(reviewer_name_, budget));
  return {};
}

Result<RoleEngine> RunSetup::MakeEngine(const std::string& name, RunBudget& budget) {
  const sources::AgentEngine& config = *ports_.agents.FindEngine(name);
  RoleEngine made{.config = &config};
  if (config.builtin) {
    DOSSIER_ASSIGN_OR_RETURN(driver::BoundModel model, ports_.open_model(config.model));
    engines_.push_back(std::make_unique<BuiltinEngine>(
        BuiltinEngineSpec{.model = std::move(model),
                          .ledger = &budget.ledger(),
                          .spent = [&budget] { budget.Spent(); },
                          .commands = config.commands,
                          .environment = EngineEnvironment(ports_.environment, {}),
                          .degraded = options_.walls.degraded}));
  } else {
    ProcessEngineSpec spec{.name = name,
                           .argv = ArgvOf(config),
                           .env_allow = config.env_allow,
                           .walls = options_.walls,
                           .grace = options_.grace,
                           .reply = config.reply,
                           .retry_wait = config.retry_wait,
                           .ledger = &budget.ledger(),
                           .spent = [&budget] { budget.Spent(); }};
    using Measure = RunBudget::Measure;
    spec.cost_untold = [&budget](const auto& why) { budget.CannotMeasure(Measure::kCost, why); };
    spec.tokens_untold = [&budget](const auto& why) {
      budget.CannotMeasure(Measure::kTokens, why);
    };
    if (config.input == sources::AgentEngine::Input::kPrompt) {
      spec.stdin_prompt = ProcessEngineSpec::PromptOnStdin::kYes;
    }
    for (const std::string& path : config.writable) {
      spec.writable.push_back(WholePath(path, ground_.root, ports_.environment));
    }
    for (const std::string& path : config.readable) {
      spec.readable.push_back(WholePath(path, ground_.root, ports_.environment));
    }
    DOSSIER_ASSIGN_OR_RETURN(auto engine, ProcessEngine::Make(std::move(spec), ports_.environment));
    engines_.push_back(std::move(engine));
  }
  made.engine = engines_.back().get();
  return made;
}

SecretValues RunSetup::secrets() const {
  std::vector<std::string> allowed;
  for (const std::string& name : {engineer_name_, reviewer_name_}) {
    const auto& allow = ports_.agents.FindEngine(name)->env_allow;
    allowed.insert(allowed.end(), allow.begin(), allow.end());
  }
  return SecretsOf(ports_.environment, allowed);
}

}  // namespace dossier::agents
