#include "agents/engine/process_engine.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "agents/git/state_folder.h"
#include "base/files/file.h"
#include "base/process/process.h"
#include "model/providers/command_client.h"

namespace dossier::agents {
namespace {

constexpr std::size_t kMaxKeptOutput = kMaxEngineOutput + (1 << 20);  // redaction adds a little
// Above the average bytes per token of any vocabulary, for any kind of text.
constexpr std::size_t kMostBytesOfToken = 16;
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

// A program that reports fewer input tokens than its prompt can have reports wrongly; the minimum
// possible number is counted instead.
void CorrectInput(const std::string& engine, std::size_t prompt_bytes, model::Usage* usage,
                  std::vector<std::string>* warnings) {
  const auto least = static_cast<std::int64_t>(prompt_bytes / kMostBytesOfToken);
  if (usage->input >= least) return;
  warnings->push_back(fmt::format(
      "{} says that it took {} input tokens for a prompt of {} bytes, which is too few: "
      "{} are counted, and its cost as it says; --max-seconds limits it",
      engine, usage->input, prompt_bytes, least));
  usage->input = least;
  usage->estimated = true;
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

// The worktree comes first: if we are root, the program runs as its owner. Of other files it sees
// those named on its command line.
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

ConfinedProcess ProcessEngine::Process(const EngineJob& job, const std::string& prompt) const {
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
  return process;
}

// Restarts after exit status 75, up to kMaxStarts times; time limit and cost cover all starts
// together.
Result<ProcessOutcome> ProcessEngine::RunPatiently(const ConfinedProcess& process,
                                                   std::size_t prompt_bytes,
                                                   const CancelToken& cancel,
                                                   EngineOutcome* outcome) const {
  ConfinedProcess next = process;
  Millis wait = spec_.retry_wait;
  for (int start = 1;; ++start, wait *= 2) {
    DOSSIER_ASSIGN_OR_RETURN(ProcessOutcome ended, RunConfined(next, cancel));
    const bool exited = ended.end == ProcessOutcome::End::kExit;
    DOSSIER_RETURN_IF_ERROR(Report(process.out_path, prompt_bytes,
                                   exited && ended.exit_code == 0 ? Start::kGood : Start::kFailed,
                                   outcome));
    const bool later = exited && ended.exit_code == kTryAgainLater;
    if (!later || start == kMaxStarts) return ended;
    if (next.time_limit) *next.time_limit -= ended.took + wait;
    if (next.time_limit && *next.time_limit <= Millis(0)) return ended;
    outcome->warnings.push_back(
        fmt::format("{} asked to be tried again later (exit code {}): start {} of {}", spec_.name,
                    kTryAgainLater, start + 1, kMaxStarts));
    if (!WaitUnlessCancelled(wait, cancel)) {
      ended.end = ProcessOutcome::End::kCancelled;
      return ended;
    }
  }
}

// Reads usage and last message from the output of one start. If this reaches a limit, the run stops
// before its next step; the work done is kept.
Status ProcessEngine::Report(const std::string& out_path, std::size_t prompt_bytes, Start start,
                             EngineOutcome* outcome) const {
  const auto& reply = spec_.reply;
  if (reply.form == sources::AgentEngine::Reply::Form::kText) return {};
  model::CommandPreset preset;
  preset.form = reply.form == sources::AgentEngine::Reply::Form::kJson
                    ? model::CommandPreset::Form::kJson
                    : model::CommandPreset::Form::kJsonLines;
  using Cached = sources::AgentEngine::Reply::Cached;
  using Counts = sources::AgentEngine::Reply::Counts;
  if (reply.cached_counts == Cached::kPart) preset.counted = model::CommandPreset::Cached::kPart;
  if (reply.counts == Counts::kSum) preset.counts = model::CommandPreset::Counts::kSum;
  preset.text = reply.text;
  preset.input = reply.input;
  preset.cached = reply.cached;
  preset.written = reply.written;
  preset.output = reply.output;
  preset.cost = reply.cost;
  DOSSIER_ASSIGN_OR_RETURN(const std::string output, ReadFile(out_path, kMaxKeptOutput));
  model::ProgramReport report = model::ReadReport(preset, output);
  outcome->said = std::move(report.text);
  TellUntold(report, start, &outcome->warnings);
  if (!report.usage) return {};
  if (!reply.input.empty()) {
    CorrectInput(spec_.name, prompt_bytes, &*report.usage, &outcome->warnings);
  }
  if (!outcome->usage) outcome->usage.emplace();
  outcome->usage->Add(*report.usage);
  if (!spec_.ledger) return {};
  auto held = spec_.ledger->Reserve({.price = model::TokenPrice()}, model::Stage::kFinish);
  if (held) held->Settle(*report.usage);
  if (spec_.spent) spec_.spent();
  return {};
}

// A failed program may have had no time to report.
void ProcessEngine::TellUntold(const model::ProgramReport& report, Start start,
                               std::vector<std::string>* warnings) const {
  const auto& reply = spec_.reply;
  const auto look = [&](bool tells, bool told, const std::string& bad,
                        const std::function<void(const std::string&)>& untold) {
    if (!tells || (told && bad.empty())) return;
    const std::string why = fmt::format("{} says nothing readable of what it used{}", spec_.name,
                                        bad.empty() ? "" : fmt::format(" ({})", bad));
    if (warnings->empty() || !warnings->back().starts_with(why)) {
      warnings->push_back(why +
                          ": limits of cost and tokens do not "
                          "count this start; --max-seconds limits it");
    }
    if (untold && (start == Start::kGood || !bad.empty())) untold(why);
  };
  look(!reply.cost.empty(), report.usage && report.usage->cost_nano_usd, report.bad_cost,
       spec_.cost_untold);
  look(!reply.input.empty() || !reply.output.empty(), report.usage.has_value(), report.bad_tokens,
       spec_.tokens_untold);
}

Result<EngineOutcome> ProcessEngine::Run(const EngineJob& job, const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(const std::string prompt, job.prompt->Text());
  DOSSIER_RETURN_IF_ERROR(WriteStateFile(job.prompt_path, prompt, Durability::kSurvivesCrash));
  if (Holds(spec_.argv, kPromptToken)) {
    DOSSIER_RETURN_IF_ERROR(CheckArgument(spec_.name, prompt));
  }
  EngineOutcome outcome;
  DOSSIER_ASSIGN_OR_RETURN(const ProcessOutcome ended,
                           RunPatiently(Process(job, prompt), prompt.size(), cancel, &outcome));
  outcome.end = ended.end;
  outcome.exit_code = ended.exit_code;
  outcome.signal = ended.signal;
  outcome.out = ended.out;
  outcome.err = ended.err;
  outcome.reason = Sentence(ended, job);
  outcome.took = ended.took;
  if (ended.left == ProcessOutcome::Left::kSurvivors) {
    outcome.warnings.push_back(
        fmt::format("processes of the {} could not be ended", RoleName(job.role)));
  }
  return outcome;
}

}  // namespace dossier::agents
