#include "agents/engine/process_engine.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "agents/git/state_folder.h"
#include "base/files/file.h"
#include "base/process/process.h"

namespace dossier::agents {
namespace {

constexpr std::string_view kPromptToken = "{prompt}", kPromptFileToken = "{prompt_file}";

bool Holds(const std::vector<std::string>& argv, std::string_view token) {
  for (const std::string& argument : argv) {
    if (argument.find(token) != std::string::npos) return true;
  }
  return false;
}

Status CheckArgument(const std::string& engine, std::string_view prompt) {
  const bool has_nul = prompt.find('\0') != std::string_view::npos;
  if (prompt.size() <= kMaxArgument && !has_nul) return {};
  return MakeError(ErrorCode::kConfig,
                   "engine {}: the prompt {} and cannot be an argument; use {{prompt_file}} or "
                   "stdin: true",
                   engine,
                   has_nul
                       ? std::string("holds a NUL byte")
                       : fmt::format("has {} bytes, more than {},", prompt.size(), kMaxArgument));
}

std::string Sentence(const ProcessOutcome& outcome, const EngineJob& job) {
  using End = ProcessOutcome::End;
  std::string text;
  switch (outcome.end) {
    case End::kExit:
      if (outcome.exit_code == 0) return {};
      text = fmt::format("the {} ended with exit code {}", RoleName(job.role), outcome.exit_code);
      break;
    case End::kSignal:
      text = outcome.limit.empty()
                 ? fmt::format("signal {} ended the {}", outcome.signal, RoleName(job.role))
                 : fmt::format("the {} was ended by the limit of {}", RoleName(job.role),
                               outcome.limit);
      break;
    case End::kTimeout:
      text = fmt::format("the {} was stopped after {} s", RoleName(job.role),
                         job.time_limit ? job.time_limit->count() / 1000 : 0);
      break;
    case End::kCancelled:
      text = fmt::format("the {} was stopped", RoleName(job.role));
      break;
  }
  return text;
}

}  // namespace

std::string FillArgument(std::string_view argument,
                         const std::map<std::string, std::string, std::less<>>& values) {
  std::string out;
  for (std::size_t at = 0; at < argument.size();) {
    const std::size_t end = argument[at] == '{' ? argument.find('}', at) : std::string_view::npos;
    const auto found = end == std::string_view::npos
                           ? values.end()
                           : values.find(argument.substr(at + 1, end - at - 1));
    if (found == values.end()) {
      out += argument[at++];
    } else {
      out += found->second;
      at = end + 1;
    }
  }
  return out;
}

Status CheckProgram(std::string_view user, const std::string& program) {
  if (FindProgram(program)) return {};
  if (program.find('/') == std::string::npos) {
    const char* path = std::getenv("PATH");
    return MakeError(ErrorCode::kConfig,
                     "{}: there is no program {}; install it, or name it by its path (PATH is {})",
                     user, program, path ? path : "");
  }
  if (Exists(program)) {
    return MakeError(ErrorCode::kConfig, "{0}: {1} is no program: `chmod +x {1}` makes it one",
                     user, program);
  }
  return MakeError(ErrorCode::kConfig, "{}: there is no program {}; correct its path", user,
                   program);
}

Result<std::unique_ptr<ProcessEngine>> ProcessEngine::Make(ProcessEngineSpec spec,
                                                           std::vector<std::string> environment) {
  if (spec.argv.empty() || spec.argv.front().empty()) {
    return MakeError(ErrorCode::kConfig, "engine {}: argv is empty", spec.name);
  }
  DOSSIER_RETURN_IF_ERROR(CheckProgram("engine " + spec.name, spec.argv.front()));
  return std::unique_ptr<ProcessEngine>(new ProcessEngine(std::move(spec), std::move(environment)));
}

// The worktree first: root becomes its owner. Of other files it sees those that its command line
// names.
void ProcessEngine::AddPlaces(const EngineJob& job, ProcessPlaces* places) const {
  places->own.insert(places->own.begin(), job.worktree);
  places->writable.insert(places->writable.end(), spec_.writable.begin(), spec_.writable.end());
  places->readable.insert(places->readable.end(), spec_.readable.begin(), spec_.readable.end());
  if (Holds(spec_.argv, kPromptFileToken)) places->readable.push_back(job.prompt_path);
  for (const std::string& word : spec_.argv) {
    std::error_code ignored;
    if (word.starts_with('/') && std::filesystem::is_regular_file(word, ignored)) {
      places->readable.push_back(word);
    }
  }
}

Result<EngineOutcome> ProcessEngine::Run(const EngineJob& job, const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(const std::string prompt, job.prompt->Text());
  DOSSIER_RETURN_IF_ERROR(WriteStateFile(job.prompt_path, prompt, Durability::kSurvivesCrash));
  if (Holds(spec_.argv, kPromptToken)) {
    DOSSIER_RETURN_IF_ERROR(CheckArgument(spec_.name, prompt));
  }
  const std::map<std::string, std::string, std::less<>> values = {
      {"prompt", prompt},
      {"prompt_file", job.prompt_path},
      {"worktree", job.worktree},
      {"task_id", job.task},
      {"role", std::string(RoleName(job.role))}};
  ConfinedProcess process{.folder = job.folder,
                          .environment = environment_,
                          .places = job.places,
                          .network = ConfinedProcess::Network::kAny,
                          .walls = spec_.walls,
                          .time_limit = job.time_limit,
                          .grace = spec_.grace,
                          .out_path = job.out_path,
                          .err_path = job.err_path,
                          .secrets = &secrets_};
  for (const std::string& argument : spec_.argv) {
    process.argv.push_back(FillArgument(argument, values));
  }
  AddPlaces(job, &process.places);
  if (spec_.stdin_prompt == ProcessEngineSpec::PromptOnStdin::kYes) process.input = prompt;
  DOSSIER_ASSIGN_OR_RETURN(const ProcessOutcome ended, RunConfined(process, cancel));
  EngineOutcome outcome{.end = ended.end,
                        .exit_code = ended.exit_code,
                        .signal = ended.signal,
                        .out = ended.out,
                        .err = ended.err,
                        .reason = Sentence(ended, job),
                        .took = ended.took};
  if (ended.left == ProcessOutcome::Left::kSurvivors) {
    outcome.warnings.push_back(
        fmt::format("processes of the {} could not be ended", RoleName(job.role)));
  }
  return outcome;
}

}  // namespace dossier::agents
