#include "research/exec/exec_slurm.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/process/cancel_fd.h"
#include "base/process/process.h"
#include "base/text/text.h"
#include "research/exec/command_rules.h"
#include "research/exec/environment_list.h"
#include "research/exec/probe.h"
#include "research/exec/slurm_job.h"

namespace dossier::research {
namespace {

// Looks at a job that is over, before it counts as one that left no status: network file systems
// show a new file late.
constexpr int kLateLooks = 3;
// What this program gives sbatch itself.
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

// False if the token was cancelled.
bool Wait(Millis time, const CancelToken& cancel) {
  const CancelFd stop(cancel);
  pollfd entry{stop.fd(), POLLIN, 0};
  poll(&entry, 1, static_cast<int>(time.count()));
  return !cancel.cancelled();
}

class SlurmBackend final : public ExecBackend {
 public:
  SlurmBackend(std::unique_ptr<ContainerBackend> inner, SlurmOptions options,
               SlurmPrograms programs)
      : inner_(std::move(inner)), options_(std::move(options)), programs_(std::move(programs)) {}

  Status Start(const SandboxSpec& spec) override { return inner_->Start(spec); }
  Result<ImageRef> Snapshot(std::string_view name) override { return inner_->Snapshot(name); }
  void Stop() noexcept override { inner_->Stop(); }

  SandboxFacts Facts() const override {
    SandboxFacts facts = inner_->Facts();
    facts.kind = "slurm";
    return facts;
  }

  Result<ExecResult> Run(const Command& command, const CancelToken& cancel) override {
    if (!IsQueued(command)) return inner_->Run(command, cancel);
    if (inner_->spec().workspace.empty()) return NotStarted();
    RuledCommand ruled = ApplyCommandRules(command, Facts().root);
    if (ruled.refusal) return std::move(*ruled.refusal);
    DOSSIER_ASSIGN_OR_RETURN(ExecResult result, RunQueued(ruled.command, cancel));
    if (!ruled.note.empty()) result.note = std::move(ruled.note);
    return result;
  }

 private:
  bool IsQueued(const Command& command) const {
    const auto& phases = options_.phases;
    return command.on_queued &&
           std::find(phases.begin(), phases.end(), command.phase) != phases.end();
  }

  // The same for the same command of the same workspace: a resumed run finds it.
  std::string JobFolder(const Command& command) const {
    const std::string key =
        fmt::format("{}\n{}\n{}\n{}\n{}", inner_->spec().workspace, PhaseName(command.phase),
                    command.folder, command.command, Join(command.argv, "\n"));
    return fmt::format("{}/jobs/{:.16}", inner_->options().folder, Sha256Hex(key));
  }

  Result<ExecResult> RunQueued(const Command& command, const CancelToken& cancel) {
    const std::string folder = JobFolder(command);
    std::string note;
    if (IsJobId(command.queued_job)) {
      DOSSIER_ASSIGN_OR_RETURN(const JobLook look,
                               LookAtJob(programs_, command.queued_job, cancel));
      if (look.state != JobState::kUnknown || ReadJobEnd(folder)) {
        return Collect(command, folder, command.queued_job, cancel);
      }
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

  Status Prepare(const Command& command, const std::string& folder) const {
    DOSSIER_RETURN_IF_ERROR(RemoveAll(folder));
    DOSSIER_RETURN_IF_ERROR(MakeFolders(folder));
    // A file of the run folder: what the engine itself might read has no place in it.
    HostCommand line = inner_->HostLine(command);
    std::erase_if(line.environment, [](const std::string& entry) {
      const std::string_view name = VariableName(entry);
      return !IsAllowedVariable(name) && !name.starts_with("APPTAINERENV_") &&
             !name.starts_with("SINGULARITYENV_");
    });
    return WriteFileAtomic(folder + "/script", JobScript(line, folder), 0700);
  }

  // Without a time of the configuration the job has that of the command, in minutes.
  std::map<std::string, std::string> Flags(const Command& command) const {
    std::map<std::string, std::string> flags = options_.flags;
    const auto limit = command.time_limit.value_or(inner_->options().timeout);
    flags.try_emplace("time",
                      std::to_string(std::chrono::ceil<std::chrono::minutes>(limit).count()));
    if (inner_->spec().gpu == SandboxSpec::Gpu::kNo) flags.erase("gpus");
    return flags;
  }

  Result<ExecResult> Collect(const Command& command, const std::string& folder,
                             const std::string& job, const CancelToken& cancel) {
    std::string name;
    for (int late = 0; late < kLateLooks;) {
      if (ReadJobEnd(folder)) break;
      auto look = LookAtJob(programs_, job, cancel);
      if (look) {
        if (look->state != JobState::kWaiting) ++late;
        name = std::move(look->name);
      } else if (look.error().code != ErrorCode::kCancelled) {
        return tl::unexpected(look.error());
      }
      if (!ReadJobEnd(folder) && !Wait(options_.poll, cancel)) {
        CancelJob(programs_, job);
        return Cancelled(cancel);
      }
    }
    return ResultOf(command, folder, name);
  }

  Result<ExecResult> ResultOf(const Command& command, const std::string& folder,
                              const std::string& state) const {
    ExecResult result{.layers = Facts().layers};
    TakeOutput(folder + "/out", result.out, result.out_bytes);
    TakeOutput(folder + "/err", result.err, result.err_bytes);
    const NetworkPolicy network = inner_->spec().network;
    if (network != NetworkPolicy::kAlways) result.layers.emplace_back("network");
    if (const auto end = ReadJobEnd(folder)) {
      result.status = end->status;
      result.seconds = end->seconds;
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

  // Up to the output limit; a job may have written more.
  void TakeOutput(const std::string& path, std::string& text, std::uint64_t& bytes) const {
    auto file = ReadFile(path);
    if (!file) return;
    bytes = file->size();
    text = file->substr(0, inner_->options().output_bytes);
  }

  const std::unique_ptr<ContainerBackend> inner_;
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

Result<std::unique_ptr<ExecBackend>> MakeSlurmBackend(std::unique_ptr<ContainerBackend> inner,
                                                      SlurmOptions options) {
  for (const auto& [name, value] : options.flags) DOSSIER_RETURN_IF_ERROR(CheckFlag(name));
  SlurmPrograms programs{.sacct = FindProgram("sacct").value_or(""),
                         .environment = inner->options().host_environment};
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

}  // namespace dossier::research
