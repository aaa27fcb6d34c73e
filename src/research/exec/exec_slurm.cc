#include "research/exec/exec_slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/cancel.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "base/process/process.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "research/exec/command_rules.h"
#include "research/exec/exec_backend.h"
#include "research/exec/exec_local.h"
#include "research/exec/probe.h"
#include "research/files/cuts.h"

namespace dossier::research {
namespace {

namespace fs = std::filesystem;

// Number of checks on a finished job before it counts as one without a status: network file systems
// show new files late.
constexpr int kLateLooks = 3;
constexpr std::string_view kPlainKind = "slurm-plain";
// Flags that this program sets itself.
constexpr std::string_view kOwnFlags[] = {"export",   "output", "error", "wrap",
                                          "parsable", "wait",   "array"};

Status CheckFlag(std::string_view name) {
  const bool plain =
      !name.empty() && name[0] != '-' &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos;
  const bool is_own =
      std::find(std::begin(kOwnFlags), std::end(kOwnFlags), name) != std::end(kOwnFlags);
  if (plain && !is_own) return {};
  return MakeError(ErrorCode::kConfig, "exec.slurm.{}: {}", name,
                   is_own ? "is set by the run itself" : "is no long flag of sbatch");
}

// `module` is a shell function: its arguments must not contain other commands.
Status CheckModules(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                               " _./+:=,@~-") == std::string::npos) {
      continue;
    }
    return MakeError(ErrorCode::kConfig,
                     "exec.modules: {} is nothing for `module`; say it like `load gcc/12`", line);
  }
  return {};
}

// Returns `text` with the mount replaced, wherever it is a whole path or starts one.
std::string Moved(std::string_view text, std::string_view mount, std::string_view place) {
  const auto is_name = [](char c) { return IsWordByte(c) || c == '.' || c == '-'; };
  std::string moved;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(mount, from)) != std::string_view::npos;) {
    const std::size_t end = at + mount.size();
    const bool begins = at == 0 || (!is_name(text[at - 1]) && text[at - 1] != '/');
    const bool ends = end == text.size() || !is_name(text[end]);
    moved.append(text.substr(from, at - from)).append(begins && ends ? place : mount);
    from = end;
  }
  return moved.append(text.substr(from));
}

// The local sandbox for commands that are not queued, and plain host lines for those that are.
class PlainBackend final : public HostedBackend {
 public:
  PlainBackend(std::unique_ptr<ExecBackend> walled, HostPlace place)
      : walled_(std::move(walled)), place_(std::move(place)) {}

  Status Start(const SandboxSpec& spec) override {
    DOSSIER_RETURN_IF_ERROR(MakeFolders(spec.workspace));
    spec_ = spec;
    mount_ = spec.mount;
    DOSSIER_RETURN_IF_ERROR(ClearPlaces(spec));
    for (Bind& bind : spec_.binds) DOSSIER_RETURN_IF_ERROR(Place(bind));
    for (std::string& entry : spec_.environment) entry = Own(entry);
    spec_.mount = spec.workspace;
    return walled_->Start(spec_);
  }
  Result<ExecResult> Run(const ExecCommand& command, const CancelToken& cancel) override {
    return walled_->Run(Own(command), cancel);
  }
  Result<ImageRef> Snapshot(std::string_view name) override { return walled_->Snapshot(name); }
  void Stop() noexcept override {
    spec_ = {};
    walled_->Stop();
  }
  SandboxFacts Facts() const override {
    SandboxFacts facts = walled_->Facts();
    facts.kind = kPlainKind;
    facts.warning =
        "jobs of exec.backend slurm-plain run as you, behind no walls: they may read, change and "
        "send whatever you can";
    return facts;
  }

  HostCommand HostLine(const ExecCommand& command) const override {
    const ExecCommand own = Own(command);
    HostCommand line{.argv = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"",
                              own.folder.empty()
                                  ? spec_.workspace
                                  : fmt::format("{}/{}", spec_.workspace, own.folder)}};
    if (own.argv.empty()) {
      line.argv.insert(line.argv.end(), {"/bin/sh", "-c", own.command});
    } else {
      line.argv.insert(line.argv.end(), own.argv.begin(), own.argv.end());
    }
    EnvironmentList environment(spec_.environment);
    environment.Remove("TMPDIR");
    environment.Set("HOME", spec_.workspace);
    environment.Add(own.environment);
    line.environment = environment.Take();
    return line;
  }
  const HostPlace& place() const override { return place_; }
  const SandboxSpec& spec() const override { return spec_; }

 private:
  std::string Own(std::string_view text) const { return Moved(text, mount_, spec_.workspace); }
  ExecCommand Own(ExecCommand command) const {
    command.command = Own(command.command);
    for (std::string& word : command.argv) word = Own(word);
    return command;
  }

  // A job sees the host's own paths.
  Status Place(Bind& bind) const {
    const fs::path inside = fs::path(bind.mount).lexically_relative(mount_);
    const std::string host = bind.host;
    if (!inside.empty() && *inside.begin() != "..") {
      const fs::path place = fs::path(spec_.workspace) / inside;
      DOSSIER_RETURN_IF_ERROR(MakeFolders(place.parent_path().string()));
      DOSSIER_RETURN_IF_ERROR(RemoveAll(place.string()));
      std::error_code error;
      fs::create_symlink(host, place, error);
      if (error) return MakeError(ErrorCode::kIo, "link {}: {}", place.string(), error.message());
    } else if (bind.mount != host) {
      return MakeError(ErrorCode::kUnavailable,
                       "{} cannot be shown at {} to a job without a container; give it a place "
                       "below {}, or its own path",
                       host, bind.mount, mount_);
    }
    bind.mount = host;
    return {};
  }

  const std::unique_ptr<ExecBackend> walled_;
  const HostPlace place_;
  SandboxSpec spec_;   // with the workspace as its mount
  std::string mount_;  // the requested mount
};

class SlurmBackend final : public ExecBackend {
 public:
  SlurmBackend(std::unique_ptr<HostedBackend> inner, SlurmOptions options, SlurmPrograms programs)
      : inner_(std::move(inner)), options_(std::move(options)), programs_(std::move(programs)) {}

  Status Start(const SandboxSpec& spec) override { return inner_->Start(spec); }
  Result<ImageRef> Snapshot(std::string_view name) override { return inner_->Snapshot(name); }
  void Stop() noexcept override { inner_->Stop(); }

  SandboxFacts Facts() const override {
    SandboxFacts facts = inner_->Facts();
    if (facts.kind != kPlainKind) facts.kind = "slurm";
    return facts;
  }

  Result<ExecResult> Run(const ExecCommand& command, const CancelToken& cancel) override {
    if (!IsQueued(command)) return inner_->Run(command, cancel);
    if (inner_->spec().workspace.empty()) return NotStarted();
    RuledCommand ruled = ApplyCommandRules(command, Facts().root);
    if (ruled.refusal) return std::move(*ruled.refusal);
    DOSSIER_ASSIGN_OR_RETURN(ExecResult result, RunQueued(ruled.command, cancel));
    if (!ruled.note.empty()) result.note = std::move(ruled.note);
    return result;
  }

 private:
  bool IsQueued(const ExecCommand& command) const {
    const auto& phases = options_.phases;
    return command.on_queued &&
           std::find(phases.begin(), phases.end(), command.phase) != phases.end();
  }

  // The same for the same command in the same workspace, so that a resumed run finds it.
  std::string JobFolder(const ExecCommand& command) const {
    const std::string key =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}", inner_->spec().workspace, PhaseName(command.phase),
                    command.queue_key, command.folder, command.command, Join(command.argv, "\n"));
    return fmt::format("{}/jobs/{:.16}", inner_->place().folder, Sha256Hex(key));
  }

  Result<ExecResult> RunQueued(const ExecCommand& command, const CancelToken& cancel) {
    const std::string folder = JobFolder(command);
    std::string note;
    if (IsJobId(command.queued_job)) {
      const auto look = LookPatiently(folder, command.queued_job, cancel);
      if (!look && look.error().code != ErrorCode::kCancelled) return tl::unexpected(look.error());
      if (!look || look->state != JobState::kUnknown || ReadJobEnd(folder)) {
        return Collect(command, folder, command.queued_job, cancel);
      }
      CancelJob(programs_, command.queued_job);
      note = fmt::format("the queue does not know job {}; submitted again", command.queued_job);
    }
    DOSSIER_RETURN_IF_ERROR(Prepare(command, folder));
    DOSSIER_ASSIGN_OR_RETURN(const std::string job,
                             SubmitJob(programs_, folder, Flags(command), cancel));
    if (Status kept = command.on_queued(job); !kept) {
      CancelJob(programs_, job);
      return tl::unexpected(std::move(kept).error());
    }
    DOSSIER_ASSIGN_OR_RETURN(ExecResult result, Collect(command, folder, job, cancel));
    result.note = std::move(note);
    return result;
  }

  Status Prepare(const ExecCommand& command, const std::string& folder) const {
    DOSSIER_RETURN_IF_ERROR(RemoveAll(folder));
    DOSSIER_RETURN_IF_ERROR(MakeFolders(folder));
    // The script is in the run folder: variables that only the engine may see are left out.
    HostCommand line = inner_->HostLine(command);
    if (!inner_->place().layers.empty())
      std::erase_if(line.environment, [](const std::string& entry) {
        const std::string_view name = VariableName(entry);
        return !IsAllowedVariable(name) && !name.starts_with("APPTAINERENV_") &&
               !name.starts_with("SINGULARITYENV_");
      });
    // The queue ends jobs at whole minutes, and some time later.
    line.argv.insert(line.argv.begin(),
                     {"timeout", "--kill-after=10", std::to_string(SecondsOf(command).count())});
    return WriteFileAtomic(folder + "/script", JobScript(line, options_.modules, folder), 0700);
  }

  std::chrono::seconds SecondsOf(const ExecCommand& command) const {
    const auto limit = command.time_limit.value_or(inner_->place().timeout);
    return std::chrono::ceil<std::chrono::seconds>(limit);
  }

  // If the configuration has no time, the job gets the command's limit, in minutes.
  std::map<std::string, std::string> Flags(const ExecCommand& command) const {
    std::map<std::string, std::string> flags = options_.flags;
    const auto limit = std::chrono::ceil<std::chrono::minutes>(SecondsOf(command));
    flags.try_emplace("time", std::to_string(limit.count()));
    if (inner_->spec().gpu == SandboxSpec::Gpu::kNo) flags.erase("gpus");
    return flags;
  }

  // Asks until the queue answers, the job has ended, or patience is at its end: then kSilent.
  Result<JobLook> LookPatiently(const std::string& folder, const std::string& job,
                                const CancelToken& cancel) const {
    const auto end = std::chrono::steady_clock::now() + options_.patience;
    for (;;) {
      DOSSIER_ASSIGN_OR_RETURN(JobLook look, LookAtJob(programs_, job, cancel));
      if (look.state != JobState::kSilent || ReadJobEnd(folder)) return look;
      if (std::chrono::steady_clock::now() >= end) return look;
      if (!WaitUnlessCancelled(options_.poll, cancel)) return Cancelled(cancel);
    }
  }

  Result<ExecResult> Collect(const ExecCommand& command, const std::string& folder,
                             const std::string& job, const CancelToken& cancel) {
    JobLook last;
    for (int late = 0; late < kLateLooks;) {
      if (ReadJobEnd(folder)) break;
      auto look = LookPatiently(folder, job, cancel);
      if (look) {
        last = std::move(*look);
        if (last.state == JobState::kSilent) break;
        if (last.state != JobState::kWaiting) ++late;
      } else if (look.error().code != ErrorCode::kCancelled) {
        return tl::unexpected(look.error());
      }
      if (!ReadJobEnd(folder) && !WaitUnlessCancelled(options_.poll, cancel)) {
        CancelJob(programs_, job);
        return Cancelled(cancel);
      }
    }
    // What nobody waits for must not go on in the workspace of later commands.
    if (last.state != JobState::kOver && !ReadJobEnd(folder)) CancelJob(programs_, job);
    return ResultOf(command, folder,
                    last.state == JobState::kSilent ? "the queue does not answer" : last.name);
  }

  Result<ExecResult> ResultOf(const ExecCommand& command, const std::string& folder,
                              const std::string& state) const {
    ExecResult result{.layers = inner_->place().layers};
    TakeOutput(folder + "/out", result.out, result.out_bytes);
    TakeOutput(folder + "/err", result.err, result.err_bytes);
    const NetworkPolicy network = inner_->spec().network;
    if (!result.layers.empty() && network != NetworkPolicy::kAlways) {
      result.layers.emplace_back("network");
    }
    if (const auto end = ReadJobEnd(folder)) {
      result.status = end->status;
      result.seconds = end->seconds;
      constexpr int kEndedByTimeout = 124, kKilledByTimeout = 137;
      const bool ended = end->status == kEndedByTimeout || end->status == kKilledByTimeout;
      result.timed_out = ended && end->seconds >= static_cast<double>(SecondsOf(command).count());
    } else {
      result.status = 1;
      result.timed_out = state.starts_with("TIMEOUT") || state.starts_with("DEADLINE");
      result.out_of_memory = state.starts_with("OUT_OF_ME");
      std::string log;
      std::uint64_t bytes = 0;
      TakeOutput(folder + "/slurm.log", log, bytes);
      result.err += fmt::format("\n[the job ended without a status: {}]\n{}",
                                state.empty() ? "unknown to the queue" : state, log);
    }
    if (command.on_output) command.on_output(result.out + result.err);
    return result;
  }

  // Keeps output up to the limit; a job may have written more.
  void TakeOutput(const std::string& path, std::string& text, std::uint64_t& bytes) const {
    auto file = ReadFile(path);
    if (!file) return;
    bytes = file->size();
    text = file->substr(0, inner_->place().output_bytes);
  }

  const std::unique_ptr<HostedBackend> inner_;
  const SlurmOptions options_;
  const SlurmPrograms programs_;
};

}  // namespace

Result<std::vector<Phase>> ParseSlurmPhases(std::string_view text) {
  if (text == "phase4") return std::vector<Phase>{Phase::kRun};
  if (text == "phase3,phase4") return std::vector<Phase>{Phase::kCompile, Phase::kRun};
  return MakeError(ErrorCode::kConfig, "exec.slurm_phases {}: there are phase4; phase3,phase4",
                   text);
}

Result<std::unique_ptr<ExecBackend>> MakeSlurmBackend(std::unique_ptr<HostedBackend> inner,
                                                      SlurmOptions options) {
  for (const auto& [name, value] : options.flags) DOSSIER_RETURN_IF_ERROR(CheckFlag(name));
  DOSSIER_RETURN_IF_ERROR(CheckModules(options.modules));
  SlurmPrograms programs{.sacct = FindProgram("sacct").value_or(""),
                         .environment = inner->place().environment};
  const std::pair<std::string_view, std::string*> needed[] = {
      {"sbatch", &programs.sbatch}, {"squeue", &programs.squeue}, {"scancel", &programs.scancel}};
  for (const auto& [name, place] : needed) {
    auto program = FindProgram(name);
    if (!program) {
      return MakeError(
          ErrorCode::kUnavailable,
          "{} was looked for on PATH and not found; `--backend apptainer` or `--backend "
          "local` works without a queue",
          name);
    }
    *place = std::move(*program);
  }
  return std::make_unique<SlurmBackend>(std::move(inner), std::move(options), std::move(programs));
}

Result<std::unique_ptr<ExecBackend>> MakePlainSlurmBackend(std::unique_ptr<ExecBackend> walled,
                                                           HostPlace place, SlurmOptions options) {
  return MakeSlurmBackend(std::make_unique<PlainBackend>(std::move(walled), std::move(place)),
                          std::move(options));
}

Status CheckQueue(const std::vector<std::string>& environment) {
  constexpr Millis kPatience{30'000};
  const auto asked = RunProcess(
      {.argv = {FindProgram("squeue").value_or("squeue"), "--noheader", "--name=dossier"},
       .environment = environment,
       .timeout = kPatience},
      {});
  if (asked && asked->exit_code == 0) return {};
  const std::string said = asked ? std::string(TrimSpace(asked->err)) : asked.error().message;
  return MakeError(ErrorCode::kUnavailable,
                   "the queue does not answer: squeue says \"{}\"; `--backend apptainer` or "
                   "`--backend local` works without a queue",
                   said.substr(0, said.find('\n')));
}

namespace {

constexpr Millis kToolTime{60'000};  // for sbatch, squeue, sacct
constexpr CutLimits kErrorText{20, 2'000};

// States in which a job may still do something; all others mean that it is over.
constexpr std::string_view kWaiting[] = {"PENDING",   "RUNNING",  "CONFIGURING", "COMPLETING",
                                         "REQUEUED",  "RESIZING", "SIGNALING",   "STAGE_OUT",
                                         "SUSPENDED", "STOPPED",  "REQUEUE_HOLD"};

Result<ProcessResult> Ask(const SlurmPrograms& programs, std::vector<std::string> argv,
                          const CancelToken& cancel) {
  return RunProcess(
      {.argv = std::move(argv), .environment = programs.environment, .timeout = kToolTime}, cancel);
}

}  // namespace

std::string JobScript(const HostCommand& command, const std::vector<std::string>& modules,
                      const std::string& folder) {
  std::string script = "#!/bin/sh\n";
  // Defines `module`; it may also set variables, so ours come after it.
  if (!modules.empty()) script += ". /etc/profile\n";
  for (const std::string& entry : command.environment) {
    const std::size_t equals = entry.find('=');
    script += fmt::format("export {}={}\n", entry.substr(0, equals),
                          ShellQuote(std::string_view(entry).substr(equals + 1)));
  }
  // sbatch was told not to pass the variables of the user's session; srun may pass the job's.
  script += "export SLURM_EXPORT_ENV=ALL\n";
  const std::string out = ShellQuote(folder + "/out"), err = ShellQuote(folder + "/err");
  const std::string made = ShellQuote(folder + "/status.new");
  script += fmt::format(
      "begin=$(date +%s)\nend() {{\necho \"$1 $(($(date +%s) - begin))\" >{}\nmv {} {}\nexit "
      "$1\n}}\n",
      made, made, ShellQuote(folder + "/status"));
  for (const std::string& line : modules) {
    script += fmt::format("module {} >>{} 2>&1 || end 1\n", line, err);
  }
  for (const std::string& word : command.argv) script += ShellQuote(word) + " ";
  return script + fmt::format("</dev/null >{} 2>>{}\nend $?\n", out, err);
}

bool IsJobId(std::string_view text) {
  return !text.empty() && text.size() <= 20 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::string> ParseJobId(std::string_view text) {
  const std::string line(FirstLine(text));
  std::string id = line.substr(0, line.find(';'));
  if (!IsJobId(id)) return {};
  return id;
}

JobState JobStateOf(std::string_view name) {
  name = name.substr(0, name.find_first_of(" +|"));
  if (name.empty()) return JobState::kUnknown;
  const bool waits =
      std::find(std::begin(kWaiting), std::end(kWaiting), name) != std::end(kWaiting);
  return waits ? JobState::kWaiting : JobState::kOver;
}

Result<std::string> SubmitJob(const SlurmPrograms& programs, const std::string& folder,
                              const std::map<std::string, std::string>& flags,
                              const CancelToken& cancel) {
  std::vector<std::string> argv = {programs.sbatch, "--parsable", "--export=NONE",
                                   "--job-name=dossier",
                                   fmt::format("--output={}/slurm.log", folder)};
  for (const auto& [name, value] : flags) argv.push_back(fmt::format("--{}={}", name, value));
  argv.push_back(folder + "/script");
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult result, Ask(programs, std::move(argv), cancel));
  if (result.exit_code == 0) {
    if (auto id = ParseJobId(result.out)) return std::move(*id);
  }
  return MakeError(ErrorCode::kUnavailable, "sbatch gave no job (status {}): {}", result.exit_code,
                   CutTail(result.err + result.out, kErrorText));
}

Result<JobLook> LookAtJob(const SlurmPrograms& programs, const std::string& job,
                          const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(
      const ProcessResult queued,
      Ask(programs, {programs.squeue, "--noheader", "--format=%T", "--jobs=" + job}, cancel));
  std::string name(queued.exit_code == 0 ? FirstLine(queued.out) : "");
  // The queue forgets a job some minutes after its end; the accounting keeps it.
  if (name.empty() && !programs.sacct.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult kept,
                             Ask(programs,
                                 {programs.sacct, "--noheader", "--parsable2", "--allocations",
                                  "--format=State", "--jobs=" + job},
                                 cancel));
    if (kept.exit_code == 0) name = FirstLine(kept.out);
  }
  const bool silent = name.empty() && queued.exit_code != 0 &&
                      queued.err.find("Invalid job id") == std::string::npos;
  return JobLook{silent ? JobState::kSilent : JobStateOf(name), std::move(name)};
}

void CancelJob(const SlurmPrograms& programs, const std::string& job) noexcept {
  (void)Ask(programs, {programs.scancel, job}, {});
}

std::optional<JobEnd> ReadJobEnd(const std::string& folder) {
  const auto text = ReadFile(folder + "/status", 256);
  if (!text) return {};
  const auto parts = Split(TrimSpace(*text), ' ');
  JobEnd end;
  std::int64_t seconds = 0;
  const auto number = [](std::string_view part, auto& value) {
    return std::from_chars(part.data(), part.data() + part.size(), value).ec == std::errc();
  };
  if (parts.size() != 2 || !number(parts[0], end.status) || !number(parts[1], seconds)) return {};
  end.seconds = static_cast<double>(seconds);
  return end;
}

}  // namespace dossier::research
