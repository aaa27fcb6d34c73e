#include "research/exec/slurm_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/files/file.h"
#include "base/process/process.h"
#include "base/text/text.h"
#include "research/files/cuts.h"

namespace dossier::research {
namespace {

constexpr Millis kToolTime{60'000};  // of sbatch, squeue, sacct
constexpr CutLimits kErrorText{20, 2'000};

// States in which a job may still do something; all others are its end.
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
  // Where `module` is made; it may set other variables anew, so ours come after it.
  if (!modules.empty()) script += ". /etc/profile\n";
  for (const std::string& entry : command.environment) {
    const std::size_t equals = entry.find('=');
    script += fmt::format("export {}={}\n", entry.substr(0, equals),
                          ShellQuote(std::string_view(entry).substr(equals + 1)));
  }
  // sbatch was told to hand on no variables of the user's session; srun may hand on the job's.
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
  // The queue forgets a job some minutes after its end; the accounting does not.
  if (name.empty() && !programs.sacct.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult kept,
                             Ask(programs,
                                 {programs.sacct, "--noheader", "--parsable2", "--allocations",
                                  "--format=State", "--jobs=" + job},
                                 cancel));
    if (kept.exit_code == 0) name = FirstLine(kept.out);
  }
  return JobLook{JobStateOf(name), std::move(name)};
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
