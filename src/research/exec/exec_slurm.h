// The long phases of a run as jobs of Slurm: in the containers of another backend, or without.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto inner, MakeContainerBackend(options));
//   DOSSIER_ASSIGN_OR_RETURN(auto backend,
//                            MakeSlurmBackend(std::move(inner), {.flags = {{"time",
//                            "01:00:00"}}}));
//
// A command of a queued phase is one job: sbatch, then waiting until a file of the job tells its
// status or the queue no longer has it. Its id goes to Command::on_queued before the wait; with
// Command::queued_job that job is asked for first: running, it is waited for; over, collected;
// unknown, submitted again. Other phases, and commands without on_queued (scripts that read
// results, the probe), run where this process does. The workspace and the worker's folder must be
// on a file system that the machines of the cluster share.
//
// Without containers (MakePlainSlurmBackend) a job runs as the user, behind no walls, in the
// workspace at its own path; all else runs in the local sandbox, at the same paths. Where a command
// or a variable names the mount, it gets that path; what is bound below the mount is a link there,
// and must be on a file system that the machines share, too.
//
// Thread-safety: as ExecBackend.

#ifndef DOSSIER_RESEARCH_EXEC_EXEC_SLURM_H_
#define DOSSIER_RESEARCH_EXEC_EXEC_SLURM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "research/exec/exec_container.h"

namespace dossier::research {

struct SlurmOptions {
  std::map<std::string, std::string> flags;   // of sbatch: {"time", "01:00:00"}, {"gpus", "1"}
  std::vector<Phase> phases = {Phase::kRun};  // that are queued: exec.slurm_phases
  std::vector<std::string> modules;           // "load gcc/12": what `module` is told in a job
  Millis poll{5'000};                         // between two looks at a job
};

// "phase4" or "phase3,phase4". Errors: kConfig.
Result<std::vector<Phase>> ParseSlurmPhases(std::string_view text);

// Errors: kUnavailable naming the program that was looked for; kConfig (a flag that is not one).
Result<std::unique_ptr<ExecBackend>> MakeSlurmBackend(std::unique_ptr<HostedBackend> inner,
                                                      SlurmOptions options);
// `walled`: the local sandbox. Errors: as above.
Result<std::unique_ptr<ExecBackend>> MakePlainSlurmBackend(std::unique_ptr<ExecBackend> walled,
                                                           HostPlace place, SlurmOptions options);
// Whether the controller of the queue answers, before a run counts on it. Errors: kUnavailable.
Status CheckQueue(const std::vector<std::string>& environment);

// One job of Slurm: its script, its state, its end. Private to the slurm backend.
//
// A job's folder holds `script`, `out`, `err`, `slurm.log` (what Slurm itself says) and, once the
// command is over, `status`: "EXIT SECONDS".

struct SlurmPrograms {
  std::string sbatch, squeue, sacct, scancel;  // full paths; sacct may be missing
  std::vector<std::string> environment;
};

enum class JobState : std::uint8_t { kWaiting, kOver, kUnknown };
struct JobLook {
  JobState state = JobState::kUnknown;
  std::string name;  // as Slurm says it: "TIMEOUT"
};

// `modules`: lines for the command `module`, after the variables; one that fails ends the job.
std::string JobScript(const HostCommand& command, const std::vector<std::string>& modules,
                      const std::string& folder);
// The id that `sbatch --parsable` printed, "12345" or "12345;cluster". Nothing if it is none.
std::optional<std::string> ParseJobId(std::string_view text);
bool IsJobId(std::string_view text);
// By the names of Slurm's states, also cut ones ("CANCELLED by 1000").
JobState JobStateOf(std::string_view name);

// Submits the script of `folder`; the job's id. Errors: kUnavailable with what sbatch said.
Result<std::string> SubmitJob(const SlurmPrograms& programs, const std::string& folder,
                              const std::map<std::string, std::string>& flags,
                              const CancelToken& cancel);
Result<JobLook> LookAtJob(const SlurmPrograms& programs, const std::string& job,
                          const CancelToken& cancel);
void CancelJob(const SlurmPrograms& programs, const std::string& job) noexcept;

struct JobEnd {
  int status = 0;
  double seconds = 0;
};
// What the job's script wrote at its end; nothing as long as it has not.
std::optional<JobEnd> ReadJobEnd(const std::string& folder);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_EXEC_SLURM_H_
